// The configs nobody tuned: they compile everywhere, and on the GPU they were picked on they keep
// everything in registers.
#include <set>

#include <catch2/catch.hpp>

#include "generator/candidates.hpp"
#include "tests/templates/compiled.hpp"

namespace heddle {
namespace {

const Sizes kPrefill{.heads = 32, .kv_heads = 8, .seqlen_q = 4096, .seqlen_kv = 4096};
const Sizes kChunk{.batch = 8, .heads = 32, .kv_heads = 8, .seqlen_q = 64, .seqlen_kv = 4096};
const Sizes kDecode{.heads = 32, .kv_heads = 8, .seqlen_q = 1, .seqlen_kv = 4096};

/// Compiles what an untuned problem runs, each text once.
class DefaultKernels {
 public:
  void check(const Variant& variant, const Sizes& sizes, const DeviceLimits& limits) {
    const KernelConfig config = default_config(variant, bucket_of(sizes), limits);
    for (const KernelPart part : kernel_parts(config)) {
      const KernelSource source = emit(variant, config, part, limits);
      if (!seen_.insert(source_hash(source).hex()).second) continue;
      const auto output = compile_source(source);
      INFO(source.main.text << output.log);
      REQUIRE(output.status == 0);
      const CompileNotes notes = parse_compile_log(output.log, source.entry);
      CHECK(notes.registers > 0);
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
  DefaultKernels kernels;
  for (const DataType dtype : {DataType::kFp16, DataType::kBf16}) {
    for (const int head_dim : {64, 96, 128, 256}) {
      for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
        const Variant variant{.dtype = dtype, .head_dim = head_dim, .mask = mask};
        for (const Sizes& sizes : {kPrefill, kChunk, kDecode}) {
          kernels.check(variant, sizes, find_architecture("sm_90a"));
        }
      }
    }
  }
  CHECK(kernels.count() > 32);
}

TEST_CASE("fa2 compiles for every architecture that this NVRTC knows", "[architectures]") {
  int compiled = 0;
  for (const DeviceLimits& limits : architecture_table()) {
    if (!is_supported(limits)) continue;
    const Variant variant{.head_dim = 128, .mask = MaskKind::kCausal};
    const auto config = default_config(variant, bucket_of(kDecode), limits);
    CHECK(config.family == Family::kFa2);
    for (const KernelPart part : kernel_parts(config)) {
      const auto output = compile_source(emit(variant, config, part, limits));
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
