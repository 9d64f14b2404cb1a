// Logits so large that fp32 rounds them to whole units: part/exact_rows.cuh.

#include <catch2/catch.hpp>

#include "generator/candidates.hpp"
#include "runtime/testing/inputs.hpp"
#include "tests/gpu/cases/checks.hpp"

namespace heddle {
namespace {

void check(Gpu& gpu, const Variant& variant, const Way& way) {
  Problem problem{variant, {.batch = 2, .heads = 2, .seqlen_q = 200, .seqlen_kv = 333}};
  problem.sizes.num_splits = way.split ? 3 : 0;
  const Kernel kernel = load_kernel(gpu, variant, fastest_config(problem, gpu.limits(), way));
  for (const double scale : {200.0, 1e9}) {
    problem.sizes.scale = scale;
    INFO(full_text(variant) << "; " << full_text(problem.sizes) << "; " << full_text(kernel.config)
                            << "; seed " << test_seed());
    const HostTensors tensors = make_inputs(problem, InputKind::kNormal, test_seed());
    const Outputs outputs = run_guarded(gpu, problem, tensors, kernel);
    CHECK(check_all_rows(problem, host_reference(problem, tensors), outputs) == "");
  }
}

}  // namespace

TEST_CASE("probabilities of large logits are not above 1") {
  Gpu gpu;
  for (const DataType dtype : {DataType::kBf16, DataType::kFp16}) {
    for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
      const Variant variant{.dtype = dtype, .head_dim = 64, .mask = mask};
      for (const Way& way : kWays) check(gpu, variant, way);
      if (enumerate_candidates(variant, gpu.limits(), Family::kFa3).empty()) continue;
      check(gpu, variant, {"fa3", Family::kFa3});
      check(gpu, variant, {"fa3 split", Family::kFa3, true});
    }
  }
}

}  // namespace heddle
