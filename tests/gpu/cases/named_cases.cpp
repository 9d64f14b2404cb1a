// The named inputs that host and unit tests walk too: values known by hand, rows that may not
// change their bits, and the numerical contract.

#include <algorithm>
#include <map>

#include <catch2/catch.hpp>

#include "runtime/testing/case_checks.hpp"
#include "runtime/testing/layout.hpp"
#include "tests/gpu/cases/checks.hpp"

namespace heddle {
namespace {

constexpr int kSplits = 3;

std::vector<CaseInput> cases_of(DataType dtype) {
  std::vector<CaseInput> cases = all_cases(dtype);
  for (CaseInput& entry : cases) {
    int& alignment = entry.problem.variant.alignment;
    alignment = std::min(alignment, stride_alignment(entry.problem));
    entry.problem.sizes.num_splits = kSplits;
  }
  return cases;
}

struct Row {
  const CaseInput* input;
  const Way* way;
};

/// fp16 differs from bf16 in the element alone: there each case meets one way, in turn.
std::vector<Row> rows_of(const std::vector<CaseInput>& cases, DataType dtype) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (std::size_t way = 0; way < kWays.size(); ++way) {
      if (dtype == DataType::kFp16 && way != (i + test_seed()) % kWays.size()) continue;
      rows.push_back({&cases[i], &kWays[way]});
    }
  }
  return rows;
}

std::vector<KernelRequest> requests_of(const Gpu& gpu, const std::vector<Row>& rows) {
  std::map<std::string, KernelRequest> requests;
  for (const Row& row : rows) {
    const Variant& variant = row.input->problem.variant;
    const auto [entry, is_new] =
        requests.try_emplace(canonical_text(variant) + std::string(row.way->name));
    if (!is_new) continue;
    entry->second = {variant, random_config(variant, gpu.limits(), *row.way, test_seed())};
  }
  std::vector<KernelRequest> list;
  for (const auto& [name, request] : requests) list.push_back(request);
  return list;
}

void check_row(Gpu& gpu, const Row& row, const HostReference& expected) {
  const CaseInput& input = *row.input;
  const Problem& problem = input.problem;
  const Variant& variant = problem.variant;
  const Kernel kernel =
      load_kernel(gpu, variant, random_config(variant, gpu.limits(), *row.way, test_seed()));
  INFO(input.name << "; " << canonical_text(variant) << "; " << full_text(kernel.config));
  const Outputs actual = run_guarded(gpu, problem, input.tensors, kernel);
  CHECK(check_all_rows(problem, expected, actual) == "");
  CHECK(check_expected_rows(input, {actual.output, actual.log_sum_exp}) == "");
  CHECK(same_bits(run_guarded(gpu, problem, input.tensors, kernel), actual));
  if (!input.clean) return;
  const Outputs clean = run_guarded(gpu, problem, *input.clean, kernel);
  CHECK(check_clean_rows(input, {actual.output, actual.log_sum_exp},
                         {clean.output, clean.log_sum_exp}) == "");
}

void check_cases(DataType dtype) {
  Gpu gpu;
  const std::vector<CaseInput> cases = cases_of(dtype);
  const std::vector<Row> rows = rows_of(cases, dtype);
  compile_ahead(gpu, requests_of(gpu, rows));
  INFO("seed " << test_seed());
  const CaseInput* previous = nullptr;
  HostReference expected;
  for (const Row& row : rows) {
    if (row.input != previous) {
      expected = host_reference(row.input->problem, row.input->tensors);
    }
    previous = row.input;
    check_row(gpu, row, expected);
  }
}

}  // namespace

TEST_CASE("named inputs in bf16, every family, a random config each") {
  check_cases(DataType::kBf16);
}

TEST_CASE("named inputs in fp16, the families in turn") {
  check_cases(DataType::kFp16);
}

}  // namespace heddle
