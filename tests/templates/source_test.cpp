// Emitted sources as NVRTC sees them: one text, named fields, hooks that cost nothing.
#include <catch2/catch.hpp>

#include "generator/candidates.hpp"
#include "generator/source_text.hpp"
#include "tests/templates/compiled.hpp"

namespace heddle {
namespace {

constexpr const char* kArchitecture = "sm_90a";

/// A small, quickly compiled kernel of each part.
KernelSource small_source(KernelPart part, MaskKind mask = MaskKind::kCausal) {
  const Variant variant{.head_dim = 64, .mask = mask};
  KernelConfig config{.tile_m = 64, .tile_n = 32};
  if (part == KernelPart::kFa1Attention) config = {.family = Family::kFa1};
  if (part == KernelPart::kSplitCombine) config.split_kv = true;
  if (part == KernelPart::kReference) config = {.family = Family::kReference};
  if (part == KernelPart::kFa3Attention) config.family = Family::kFa3;
  const bool unfused = std::string_view(enum_name(part)).starts_with("unfused");
  if (unfused) config = {.family = Family::kUnfused};
  return emit(variant, config, part, find_architecture(kArchitecture));
}

std::vector<char> cubin_of(const KernelSource& source) {
  const auto output = compile_source(source);
  INFO(output.log);
  REQUIRE(output.status == 0);
  REQUIRE_FALSE(output.cubin.empty());
  return output.cubin;
}

TEST_CASE("A flattened kernel compiles alone and is the same kernel") {
  for (const auto& [part, name] : EnumNames<KernelPart>::names) {
    INFO(name);
    const KernelSource source = small_source(part);
    KernelSource flat = source;
    flat.main.text = flatten(source);
    flat.headers.clear();
    CHECK(included_names(flat.main.text).empty());
    CHECK(cubin_of(flat) == cubin_of(source));
  }
}

TEST_CASE("A misspelt or missing field is an error at that field") {
  for (const std::string field : {"kTileN", "kLazyRescale", "kAlignment", "kMaskHook"}) {
    INFO(field);
    KernelSource source = small_source(KernelPart::kFa2Attention);
    replace_once(source.main.text, " " + field + " = ", " " + field + "s = ");
    const auto output = compile_source(source);
    CHECK(output.status_name == "NVRTC_ERROR_COMPILATION");
    CHECK_THAT(output.log, Catch::Contains("Config\" has no member \"" + field + "\""));
  }
}

TEST_CASE("Shared memory and threads that are not the kernel's do not compile") {
  for (const KernelPart part : {KernelPart::kFa2Attention, KernelPart::kFa1Attention,
                                KernelPart::kUnfusedScores, KernelPart::kUnfusedOutput}) {
    for (const std::string field : {"kSharedBytes = ", "kThreads = "}) {
      INFO(enum_name(part) << " " << field);
      KernelSource source = small_source(part);
      replace_once(source.main.text, field, field + "16 + ");
      const auto output = compile_source(source);
      CHECK(output.status_name == "NVRTC_ERROR_COMPILATION");
      CHECK_THAT(output.log, Catch::Contains("static assertion failed"));
    }
  }
}

/// The kernel as if hooks had never been thought of: neither the functions nor their call sites.
KernelSource without_hooks(KernelSource source) {
  std::string& text = source.main.text;
  const auto first = text.find("  /// Applied to every scaled logit");
  const auto last = text.find("};\n\nextern");
  REQUIRE(first < last);
  text.erase(first, last - first);
  if (source.part == KernelPart::kUnfusedSoftmax) {
    std::string& kernel = header_text(source, "kernel/unfused_softmax.cuh");
    replace_once(
        kernel,
        "scores[i] = Config::score(scores[i] * parameters.scale, position) / parameters.scale;",
        "");
    replace_once(kernel,
                 "if constexpr (Config::kMaskHook) visible = visible && Config::visible(position);",
                 "");
    return source;
  }
  const bool fa1 = source.part == KernelPart::kFa1Attention;
  std::string& kernel = header_text(source, fa1 ? "kernel/fa1.cuh" : "kernel/fa2.cuh");
  const auto call = kernel.find("mask.apply_score_hook(");
  REQUIRE(call != std::string::npos);
  kernel.erase(call, kernel.find(';', call) + 1 - call);
  std::string& mask = header_text(source, "part/mask.cuh");
  replace_once(mask, " || !hook_shows(query, lane_key + column, head)", "");
  replace_once(mask, " && hook_shows(query, key, head)", "");
  std::string& range = header_text(source, "part/block_range.cuh");
  replace_once(range, "Config::kMaskHook ? 0 : ", "");
  return source;
}

constexpr KernelPart kHookedParts[] = {KernelPart::kFa2Attention, KernelPart::kFa1Attention,
                                       KernelPart::kUnfusedSoftmax};

TEST_CASE("The identity hook leaves the cubin byte-identical") {
  for (const KernelPart part : kHookedParts) {
    for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
      INFO(enum_name(part) << " " << enum_name(mask));
      const KernelSource source = small_source(part, mask);
      CHECK(cubin_of(without_hooks(source)) == cubin_of(source));
    }
  }
}

TEST_CASE("A hook that is not the identity reaches the kernel") {
  for (const KernelPart part : kHookedParts) {
    INFO(enum_name(part));
    const KernelSource plain = small_source(part);
    KernelSource scored = plain;
    replace_once(scored.main.text, "kScoreHook = false", "kScoreHook = true");
    replace_once(scored.main.text, "return logit;", "return 2 * logit;");
    KernelSource masked = plain;
    replace_once(masked.main.text, "kMaskHook = false", "kMaskHook = true");
    replace_once(masked.main.text, "visible(heddle::ScorePosition) { return true; }",
                 "visible(heddle::ScorePosition where) { return where.key % 2 == 0; }");
    CHECK(cubin_of(scored) != cubin_of(plain));
    CHECK(cubin_of(masked) != cubin_of(plain));
  }
}

TEST_CASE("The identity of a source ignores comments and sees everything else") {
  const KernelSource source = small_source(KernelPart::kFa2Attention);
  KernelSource commented = source;
  commented.main.text = "// another banner\n\n" + source.main.text;
  header_text(commented, "part/mask.cuh").append("\n/* more */ // words\n");
  CHECK(source_hash(commented) == source_hash(source));
  KernelSource changed = source;
  replace_once(header_text(changed, "part/mask.cuh"), "1.0f / scale", "2.0f / scale");
  CHECK_FALSE(source_hash(changed) == source_hash(source));
  CHECK_FALSE(source_hash(small_source(KernelPart::kFa2Attention, MaskKind::kFull)) ==
              source_hash(source));
}

}  // namespace
}  // namespace heddle
