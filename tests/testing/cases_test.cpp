#include "runtime/testing/cases.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "runtime/testing/compare.hpp"
#include "runtime/testing/element.hpp"
#include "runtime/testing/layout.hpp"
#include "tests/testing/naive.hpp"

using namespace heddle;

namespace {

/// Rows of [batch, heads, seqlen_q] that an expectation speaks of.
std::vector<std::size_t> rows_of(const ExpectedRows& expected, const Sizes& sizes) {
  std::vector<std::size_t> rows;
  for (int head = 0; head < sizes.batch * sizes.heads; ++head) {
    if (expected.head >= 0 && head % sizes.heads != expected.head) continue;
    for (int query = expected.first_query; query < std::min(expected.end_query, sizes.seqlen_q);
         ++query) {
      rows.push_back(static_cast<std::size_t>(head) * sizes.seqlen_q + query);
    }
  }
  return rows;
}

/// How many figures of the result are not the expected ones.
int mismatches(const CaseInput& input, const ExpectedRows& expected, const AttentionResult& result,
               double tolerance) {
  int wrong = 0;
  const int columns = input.problem.variant.head_dim;
  const auto rows = rows_of(expected, input.problem.sizes);
  for (const std::size_t row : rows) {
    for (int c = 0; c < columns; ++c) {
      wrong += !close(result.output[row * columns + c], expected.output, tolerance);
    }
    if (!expected.log_sum_exp) continue;
    wrong += !close(result.log_sum_exp[row], *expected.log_sum_exp, 1e-6);
  }
  return rows.empty() ? 1 : wrong;  // an expectation of no row at all is a mistake in the case
}

}  // namespace

TEST_CASE("every case has a name of its own and is a problem that heddle accepts") {
  const auto dtype = GENERATE(DataType::kBf16, DataType::kE4m3);
  std::set<std::string> names;
  for (const CaseInput& input : all_cases(dtype)) {
    INFO(input.name);
    CHECK(names.insert(input.name).second);
    CHECK_FALSE(reject_problem(input.problem).has_value());
  }
  CHECK(names.size() > 80);
}

TEST_CASE("the references give the values worked out by hand") {
  const auto dtype = GENERATE(DataType::kFp16, DataType::kBf16, DataType::kE4m3);
  const double tolerance =
      dtype == DataType::kE4m3 ? 0x1p-4 : (dtype == DataType::kFp16 ? 2e-3 : 1e-2);
  for (const CaseInput& input : all_cases(dtype)) {
    if (input.expected.empty()) continue;
    INFO(input.name);
    const auto exact = reference_attention(input.problem, input.tensors, ReferenceMode::kFloat64);
    const auto baseline =
        reference_attention(input.problem, input.tensors, ReferenceMode::kBaseline);
    for (const ExpectedRows& expected : input.expected) {
      CHECK(mismatches(input, expected, exact, 1e-12) == 0);
      CHECK(mismatches(input, expected, baseline, tolerance) == 0);
    }
  }
}

TEST_CASE("the reference agrees with a double loop on odd inputs too") {
  auto cases = masking_cases({});
  for (CaseInput& more : numerics_cases({})) cases.push_back(std::move(more));
  const Variant e4m3{.dtype = DataType::kE4m3,
                     .scales = ScaleKind::kToken,
                     .value_layout = ValueLayout::kTransposed};
  for (auto more : {masking_cases(e4m3), numerics_cases(e4m3), scale_cases(e4m3)}) {
    cases.insert(cases.end(), more.begin(), more.end());
  }
  for (const CaseInput& input : cases) {
    INFO(input.name);
    const auto exact = reference_attention(input.problem, input.tensors, ReferenceMode::kFloat64);
    const auto naive = naive_attention(input.problem, input.tensors);
    int wrong = 0;
    for (std::size_t i = 0; i < naive.output.size(); ++i) {
      wrong += !close(exact.output[i], naive.output[i], 1e-12);
    }
    for (std::size_t i = 0; i < naive.log_sum_exp.size(); ++i) {
      wrong += !close(exact.log_sum_exp[i], naive.log_sum_exp[i], 1e-12);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("an odd value changes only the rows and columns that may see it") {
  const auto dtype = GENERATE(DataType::kFp16, DataType::kE4m3);
  int twins = 0;
  for (const CaseInput& input : all_cases(dtype)) {
    if (!input.clean) continue;
    INFO(input.name);
    ++twins;
    const auto odd = reference_attention(input.problem, input.tensors, ReferenceMode::kFloat64);
    const auto clean = reference_attention(input.problem, *input.clean, ReferenceMode::kFloat64);
    std::size_t affected = 0;
    for (std::size_t i = 0; i < odd.output.size(); ++i) {
      CHECK(std::isfinite(clean.output[i]));
      if (odd.output[i] == clean.output[i]) continue;
      CHECK_FALSE(std::isfinite(odd.output[i]));
      ++affected;
    }
    if (input.name.find("past the end") != std::string::npos) CHECK(affected == 0);
    if (input.name.find("last row") != std::string::npos) CHECK(affected == 2 * 64);
    if (input.name.find("one query") != std::string::npos) CHECK(affected == 2 * 64);
    if (input.name.find("visible") != std::string::npos) CHECK(affected == 2 * 130);
  }
  CHECK(twins >= (dtype == DataType::kE4m3 ? 6 : 8));
}

TEST_CASE("all layouts of a problem give the same bits (C21)") {
  const Variant form =
      GENERATE(Variant{}, Variant{.dtype = DataType::kE4m3},
               Variant{.dtype = DataType::kE4m3, .value_layout = ValueLayout::kTransposed});
  std::optional<AttentionResult> first;
  int layouts = 0;
  for (const CaseInput& input : shape_cases(form)) {
    if (input.name.rfind("C21", 0) != 0) continue;
    INFO(input.name);
    ++layouts;
    const auto result = reference_attention(input.problem, input.tensors, ReferenceMode::kFloat64);
    if (!first) first = result;
    CHECK(result.output == first->output);
    CHECK(result.log_sum_exp == first->log_sum_exp);
  }
  CHECK(layouts == (form.dtype == DataType::kE4m3 ? 17 : 19));
}

TEST_CASE("the baseline passes its own comparison on every case") {
  const auto dtype = GENERATE(DataType::kFp16, DataType::kBf16, DataType::kE4m3);
  for (const CaseInput& input : all_cases(dtype)) {
    INFO(input.name);
    const auto exact = reference_attention(input.problem, input.tensors, ReferenceMode::kFloat64);
    const auto baseline =
        reference_attention(input.problem, input.tensors, ReferenceMode::kBaseline);
    const DataType type = output_type(input.problem.variant);
    std::vector<std::uint16_t> output;
    for (const double value : baseline.output) {
      output.push_back(element_from_float(type, static_cast<float>(value)));
    }
    const std::vector<float> lse(baseline.log_sum_exp.begin(), baseline.log_sum_exp.end());
    const Comparison comparison = compare(input.problem, exact, baseline, output, lse);
    INFO(comparison.explanation);
    CHECK(comparison.record.passed);
  }
}
