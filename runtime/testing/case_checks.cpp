#include "runtime/testing/case_checks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/testing/element.hpp"

namespace heddle {
namespace {

/// Half a unit in the last place of 1, twice over: O is rounded once, and P before it. Of e4m3 that
/// of P: each weight may be off by so much, all to the same side.
double output_tolerance(const Variant& variant) {
  if (variant.dtype == DataType::kE4m3) return 0x1p-4;
  return variant.dtype == DataType::kFp16 ? 2e-3 : 1e-2;
}
constexpr double kLogSumExpTolerance = 1e-5;  // the numerical contract's floor, relative beyond 1

bool agrees(double actual, double expected, double tolerance) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (std::isinf(expected)) return actual == expected;
  return std::abs(actual - expected) <= tolerance * std::max(1.0, std::abs(expected));
}

std::string place(const Sizes& sizes, std::size_t row) {
  const auto queries = static_cast<std::size_t>(sizes.seqlen_q);
  return "head " + std::to_string(row / queries % static_cast<std::size_t>(sizes.heads)) +
         ", query " + std::to_string(row % queries);
}

class ExpectedRowCheck {
 public:
  ExpectedRowCheck(const CaseInput& input, const KernelResult& result)
      : input_(input), result_(result) {}

  std::string run() const {
    const Sizes& sizes = input_.problem.sizes;
    for (const ExpectedRows& expected : input_.expected) {
      for (int head = 0; head < sizes.batch * sizes.heads; ++head) {
        if (expected.head >= 0 && head % sizes.heads != expected.head) continue;
        const int end = std::min(expected.end_query, sizes.seqlen_q);
        for (int query = expected.first_query; query < end; ++query) {
          const auto row =
              static_cast<std::size_t>(head) * static_cast<std::size_t>(sizes.seqlen_q) +
              static_cast<std::size_t>(query);
          if (std::string wrong = check_row(expected, row); !wrong.empty()) return wrong;
        }
      }
    }
    return "";
  }

 private:
  std::string check_row(const ExpectedRows& expected, std::size_t row) const {
    const Variant& variant = input_.problem.variant;
    const auto columns = static_cast<std::size_t>(input_.problem.variant.head_dim);
    for (std::size_t column = 0; column < columns; ++column) {
      const double actual =
          element_to_float(output_type(variant), result_.output[row * columns + column]);
      if (agrees(actual, expected.output, output_tolerance(variant))) continue;
      return "O of " + place(input_.problem.sizes, row) + ", column " + std::to_string(column) +
             " is " + std::to_string(actual) + ", not " + std::to_string(expected.output);
    }
    const double lse = result_.log_sum_exp[row];
    if (!expected.log_sum_exp || agrees(lse, *expected.log_sum_exp, kLogSumExpTolerance)) return "";
    return "LSE of " + place(input_.problem.sizes, row) + " is " + std::to_string(lse) + ", not " +
           std::to_string(*expected.log_sum_exp);
  }

  const CaseInput& input_;
  const KernelResult& result_;
};

}  // namespace

std::string check_expected_rows(const CaseInput& input, const KernelResult& result) {
  return ExpectedRowCheck(input, result).run();
}

std::string check_clean_rows(const CaseInput& input, const KernelResult& odd,
                             const KernelResult& clean) {
  const auto reference = [&](const HostTensors& tensors) {
    return reference_attention(input.problem, tensors, ReferenceMode::kFloat64);
  };
  const AttentionResult odd_reference = reference(input.tensors);
  const AttentionResult clean_reference = reference(*input.clean);
  const auto columns = static_cast<std::size_t>(input.problem.variant.head_dim);
  for (std::size_t row = 0; row < odd.log_sum_exp.size(); ++row) {
    const auto first = static_cast<std::ptrdiff_t>(row * columns);
    const auto last = first + static_cast<std::ptrdiff_t>(columns);
    const auto equal = [&](const auto& left, const auto& right) {
      return std::equal(left.begin() + first, left.begin() + last, right.begin() + first);
    };
    if (odd_reference.log_sum_exp[row] != clean_reference.log_sum_exp[row] ||
        !equal(odd_reference.output, clean_reference.output)) {
      continue;
    }
    if (equal(odd.output, clean.output) &&
        std::bit_cast<std::uint32_t>(odd.log_sum_exp[row]) ==
            std::bit_cast<std::uint32_t>(clean.log_sum_exp[row])) {
      continue;
    }
    return place(input.problem.sizes, row) + " has other bits than without the odd values";
  }
  return "";
}

}  // namespace heddle
