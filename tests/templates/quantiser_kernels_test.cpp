// The quantiser's kernels as NVRTC compiles them.
#include <algorithm>
#include <cstdio>
#include <set>

#include <catch2/catch.hpp>

#include "generator/quantiser.hpp"
#include "tests/templates/compiled.hpp"

namespace heddle {
namespace {

/// Compiles each text once.
class QuantiserKernels {
 public:
  void check(const QuantiserConfig& config, const std::string& architecture) {
    for (const QuantiserPart part : quantiser_parts(config)) {
      const KernelSource source = emit_quantiser(config, part, architecture);
      if (!seen_.insert(source_hash(source).hex() + architecture).second) continue;
      const auto output = compile_source(source);
      INFO(architecture << "\n" << source.main.text << output.log);
      REQUIRE(output.status == 0);
      const CompileNotes notes = parse_compile_log(output.log, source.entry);
      CHECK(notes.registers > 0);
      CHECK_FALSE(reject_notes(notes).has_value());
      most_spilt_ = std::max(most_spilt_, notes.spill_store_bytes);
    }
  }

  int most_spilt() const { return most_spilt_; }

 private:
  std::set<std::string> seen_;
  int most_spilt_ = 0;
};

TEST_CASE("the quantiser's kernels compile, with hardly a spill") {
  QuantiserKernels kernels;
  for (const int head_dim : {64, 96, 128, 256}) {
    for (const auto& [scales, name] : EnumNames<ScaleKind>::names) {
      for (const ValueLayout layout : {ValueLayout::kRows, ValueLayout::kTransposed}) {
        const Variant variant{.dtype = DataType::kE4m3,
                              .head_dim = head_dim,
                              .scales = scales,
                              .value_layout = layout};
        const DataType dtype = head_dim == 96 ? DataType::kFp16 : DataType::kBf16;
        const bool all = scales != ScaleKind::kTensor;
        const QuantiserConfigs configs = quantiser_configs(variant, dtype, {all, all, all});
        kernels.check(configs.query, "sm_90a");
        kernels.check(configs.key, "sm_90a");
        kernels.check(configs.value, "sm_90a");
      }
    }
  }
  std::printf("most spilt by the quantiser: %d bytes\n", kernels.most_spilt());
}

TEST_CASE("equal configs give equal texts, each field another") {
  const QuantiserConfig config{.subtract_mean = true};
  const auto text = [](const QuantiserConfig& asked) {
    return flatten(emit_quantiser(asked, QuantiserPart::kElements, "sm_90a"));
  };
  CHECK(text(config) == text(config));
  const auto differs = [&](auto change) {
    QuantiserConfig other = config;
    change(other);
    return text(other) != text(config);
  };
  CHECK(differs([](auto& c) { c.dtype = DataType::kFp16; }));
  CHECK(differs([](auto& c) { c.head_dim = 64; }));
  CHECK(differs([](auto& c) { c.scales = ScaleKind::kToken; }));
  CHECK(differs([](auto& c) { c.rotate = true; }));
  CHECK(differs([](auto& c) { c.subtract_mean = false; }));
  CHECK(differs([](auto& c) { c.shift = true; }));
  CHECK(differs([](auto& c) { c.layout = ValueLayout::kTransposed; }));
}

}  // namespace
}  // namespace heddle
