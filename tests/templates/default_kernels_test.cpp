// The configs nobody tuned: they compile everywhere, and up to sm_90a they keep everything in
// registers. sm_90a is checked whole, the others by a fresh sample per run:
//   HEDDLE_SAMPLE=192 HEDDLE_SEED=7 templates_default_kernels_test "[sample]"
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>

#include <catch2/catch.hpp>

#include "generator/candidates.hpp"
#include "tests/templates/compiled.hpp"

namespace heddle {
namespace {

const Sizes kPrefill{.heads = 32, .kv_heads = 8, .seqlen_q = 4096, .seqlen_kv = 4096};
const Sizes kChunk{.batch = 8, .heads = 32, .kv_heads = 8, .seqlen_q = 64, .seqlen_kv = 4096};
const Sizes kDecode{.heads = 32, .kv_heads = 8, .seqlen_q = 1, .seqlen_kv = 4096};

/// What an untuned problem may ask for.
struct Asked {
  Variant variant;
  Sizes sizes;
};

std::vector<Asked> everything_asked() {
  std::vector<Asked> all;
  for (const DataType dtype : {DataType::kFp16, DataType::kBf16}) {
    for (const int head_dim : {64, 96, 128, 256}) {
      for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
        for (const Sizes& sizes : {kPrefill, kChunk, kDecode}) {
          all.push_back({{.dtype = dtype, .head_dim = head_dim, .mask = mask}, sizes});
        }
      }
    }
  }
  return all;
}

/// The same of 8-bit inputs, which one architecture takes.
std::vector<Asked> every_scaled_input() {
  std::vector<Asked> all;
  for (const int head_dim : {64, 96, 128, 256}) {
    for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
      for (const ValueLayout layout : {ValueLayout::kRows, ValueLayout::kTransposed}) {
        const bool is_odd = (mask == MaskKind::kCausal) != (layout == ValueLayout::kRows);
        all.push_back({{.dtype = DataType::kE4m3,
                        .head_dim = head_dim,
                        .mask = mask,
                        .scales = is_odd ? ScaleKind::kBlock : ScaleKind::kHead,
                        .value_layout = layout},
                       head_dim == 96 ? kDecode : kPrefill});
      }
    }
  }
  return all;
}

/// Compiles defaults, each text once.
class DefaultKernels {
 public:
  void check(const Asked& asked, const DeviceLimits& limits) {
    check(asked, default_config(asked.variant, bucket_of(asked.sizes), limits), limits);
  }
  void check(const Asked& asked, const KernelConfig& config, const DeviceLimits& limits) {
    for (const KernelPart part : kernel_parts(config)) {
      const KernelSource source = emit(asked.variant, config, part, limits);
      if (!seen_.insert(source_hash(source).hex() + limits.architecture).second) continue;
      const auto output = compile_source(source);
      INFO(limits.architecture << "\n" << source.main.text << output.log);
      REQUIRE(output.status == 0);
      const CompileNotes notes = parse_compile_log(output.log, source.entry);
      CHECK(notes.registers > 0);
      CHECK_FALSE(reject_notes(notes).has_value());
      if (limits.capability_major >= 10) continue;  // a few bytes are possible there
      CHECK(notes.stack_bytes == 0);
      CHECK(notes.spill_store_bytes == 0);
      CHECK(notes.spill_load_bytes == 0);
      CHECK(notes.remarks == "");
    }
  }
  std::size_t count() const { return seen_.size(); }

 private:
  std::set<std::string> seen_;
};

TEST_CASE("Shipped defaults use no local memory on sm_90a", "[defaults]") {
  const DeviceLimits& limits = find_architecture("sm_90a");
  DefaultKernels kernels;
  for (const Asked& asked : everything_asked()) {
    kernels.check(asked, limits);
    // And fa2's, which serve where fa3 cannot.
    const auto fa2 = default_config(Family::kFa2, asked.variant, bucket_of(asked.sizes), limits);
    REQUIRE(fa2);
    kernels.check(asked, *fa2, limits);
  }
  CHECK(kernels.count() > 64);
}

TEST_CASE("Defaults of 8-bit inputs use no local memory", "[defaults]") {
  DefaultKernels kernels;
  for (const Asked& asked : every_scaled_input()) kernels.check(asked, find_architecture("sm_90a"));
  CHECK(kernels.count() >= 16);
}

TEST_CASE("Nor do they on other architectures; none is refused for its spills", "[sample]") {
  const auto seed = static_cast<unsigned>(drawn_seed());
  const auto count = static_cast<int>(number_from("HEDDLE_SAMPLE", 12));
  std::printf("HEDDLE_SEED=%u HEDDLE_SAMPLE=%d\n", seed, count);
  std::mt19937 engine(seed);
  const auto all = everything_asked();
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(engine);
  };
  constexpr const char* kArchitectures[] = {"sm_80", "sm_86", "sm_89", "sm_100a", "sm_120"};
  DefaultKernels kernels;
  for (int i = 0; i < count; ++i) {
    const DeviceLimits& limits =
        find_architecture(kArchitectures[below(std::size(kArchitectures))]);
    if (is_supported(limits)) kernels.check(all[below(all.size())], limits);
  }
  CHECK(kernels.count() > 0);
}

TEST_CASE("fa2 compiles for every architecture that this NVRTC knows", "[architectures]") {
  int compiled = 0;
  for (const DeviceLimits& limits : architecture_table()) {
    if (!is_supported(limits)) continue;
    const Variant variant{.head_dim = 128, .mask = MaskKind::kCausal};
    const auto config = default_config(Family::kFa2, variant, bucket_of(kDecode), limits);
    REQUIRE(config);
    for (const KernelPart part : kernel_parts(*config)) {
      const auto output = compile_source(emit(variant, *config, part, limits));
      INFO(limits.architecture << " " << output.log);
      CHECK(output.status == 0);
      CHECK_THAT(output.ptx, Catch::Contains(".target " + limits.architecture + "\n"));
      CHECK_FALSE(output.cubin.empty());
    }
    ++compiled;
  }
  CHECK(compiled >= 6);
}

}  // namespace
}  // namespace heddle
