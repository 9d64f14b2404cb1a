// C33: many query heads to a key/value head.

#include <algorithm>

#include <catch2/catch.hpp>

#include "runtime/testing/case_checks.hpp"
#include "runtime/testing/element.hpp"
#include "runtime/testing/inputs.hpp"
#include "runtime/testing/layout.hpp"
#include "tests/gpu/cases/checks.hpp"

namespace heddle {
namespace {

constexpr std::pair<int, int> kRatios[] = {{7, 1},  {14, 2}, {5, 1},  {12, 4},
                                           {16, 1}, {32, 2}, {64, 1}, {71, 1}};
constexpr int kKeys = 200;

/// V holds the number of its head throughout, which is then also what O must be.
CaseInput grouped_case(int heads, int kv_heads, int queries) {
  CaseInput input;
  Problem& problem = input.problem;
  problem.variant.head_dim = 64;
  problem.variant.mask = MaskKind::kCausal;
  problem.sizes = {.heads = heads,
                   .kv_heads = kv_heads,
                   .seqlen_q = queries,
                   .seqlen_kv = kKeys,
                   .num_splits = 3};
  input.tensors = make_contiguous_inputs(problem, InputKind::kNormal, test_seed());
  const std::size_t per_head = input.tensors.value.size() / static_cast<std::size_t>(kv_heads);
  for (std::size_t i = 0; i < input.tensors.value.size(); ++i) {
    input.tensors.value[i] =
        element_from_float(problem.variant.dtype, static_cast<float>(i / per_head));
  }
  for (int head = 0; head < heads; ++head) {
    input.expected.push_back({.head = head,
                              .output = static_cast<double>(head / (heads / kv_heads)),
                              .log_sum_exp = std::nullopt});
  }
  return input;
}

/// Each key/value head once per query head that reads it.
std::vector<std::uint16_t> repeated(const std::vector<std::uint16_t>& elements, int kv_heads,
                                    int times) {
  std::vector<std::uint16_t> result;
  const auto per_head = static_cast<std::ptrdiff_t>(elements.size()) / kv_heads;
  for (int head = 0; head < kv_heads; ++head) {
    const auto first = elements.begin() + head * per_head;
    for (int i = 0; i < times; ++i) result.insert(result.end(), first, first + per_head);
  }
  return result;
}

CaseInput repeated_case(const CaseInput& grouped) {
  CaseInput input = grouped;
  Sizes& sizes = input.problem.sizes;
  const int times = sizes.heads / sizes.kv_heads;
  input.tensors.key = repeated(grouped.tensors.key, sizes.kv_heads, times);
  input.tensors.value = repeated(grouped.tensors.value, sizes.kv_heads, times);
  sizes.kv_heads = sizes.heads;
  return input;
}

}  // namespace

TEST_CASE("C33 query heads read their key/value head, as if it were repeated for each") {
  Gpu gpu;
  const std::vector<Kernel> kernels = load_kernels(
      gpu, random_requests(grouped_case(1, 1, 1).problem.variant, gpu.limits(), test_seed()));
  for (const auto& [heads, kv_heads] : kRatios) {
    for (const int queries : {1, 3, 88}) {
      const CaseInput grouped = grouped_case(heads, kv_heads, queries);
      const CaseInput separate = repeated_case(grouped);
      const HostReference expected = host_reference(grouped.problem, grouped.tensors);
      for (const Kernel& kernel : kernels) {
        INFO("heads " << heads << "/" << kv_heads << ", queries " << queries << ", seed "
                      << test_seed() << ", " << full_text(kernel.config));
        const Outputs actual = run_guarded(gpu, grouped.problem, grouped.tensors, kernel);
        CHECK(check_expected_rows(grouped, {actual.output, actual.log_sum_exp}) == "");
        CHECK(check_all_rows(grouped.problem, expected, actual) == "");
        CHECK(same_bits(actual, run_guarded(gpu, separate.problem, separate.tensors, kernel)));
      }
    }
  }
}

}  // namespace heddle
