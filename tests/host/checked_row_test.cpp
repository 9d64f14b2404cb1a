// What moves the reference of a row whose sum is checked, and that no other row does.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "runtime/testing/element.hpp"
#include "tests/host/checked_sums.hpp"

namespace heddle {
namespace {

bool same_row(const HostRun& left, const HostRun& right, int row) {
  const auto first = static_cast<std::size_t>(row * kColumns);
  const auto query = static_cast<std::size_t>(row);
  return std::memcmp(&left.output[first], &right.output[first], 2 * kColumns) == 0 &&
         std::memcmp(&left.log_sum_exp[query], &right.log_sum_exp[query], sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("a row's bits do not change with other rows that jump") {
  const Problem problem = checked_sum_problem(DataType::kBf16, MaskKind::kFull);
  const HostRun calm =
      run_checked_sum(problem, tensors_of(problem, rising(0)), RunningMax::kCheckedSum);
  for (const Named& input : named_logits()) {
    const Logit mixed = [&](int query, int visited) {
      return query % 3 == 0 ? input.logit(query, visited) : noise(query, visited);
    };
    const HostRun jumps =
        run_checked_sum(problem, tensors_of(problem, mixed), RunningMax::kCheckedSum);
    const HostRun all =
        run_checked_sum(problem, tensors_of(problem, input.logit), RunningMax::kCheckedSum);
    for (int row = 0; row < kQueries; ++row) {
      INFO(input.name << ", row " << row);
      CHECK(same_row(jumps, row % kColumns % 3 == 0 ? all : calm, row));
    }
  }
}

TEST_CASE("a newcomer beyond the reference leaves it where it is, in late blocks alone") {
  const Problem problem = checked_sum_problem(DataType::kBf16, MaskKind::kFull);
  // By less than an eighth of the row, which the lazy maximum leaves as well.
  const auto newcomer = [](int from) {
    return [=](int, int visited) { return visited == from ? 1.0 + 1.0 / 64 : 0.0; };
  };
  const auto differs = [&](int from) {
    const HostTensors tensors = tensors_of(problem, newcomer(from));
    const HostRun exact = run_checked_sum(problem, tensors, RunningMax::kEveryBlock);
    return run_checked_sum(problem, tensors, RunningMax::kCheckedSum).output != exact.output;
  };
  CHECK_FALSE(differs(0));
  CHECK(differs(15 * kBlock));
}

TEST_CASE(
    "a late key that outweighs an eighth of its row is not rounded with checked sums either") {
  constexpr int kHeavy = 15 * kBlock;
  for (const DataType dtype : {DataType::kBf16, DataType::kFp16}) {
    const Problem problem = checked_sum_problem(dtype, MaskKind::kFull);
    HostTensors tensors = tensors_of(problem, [](int query, int visited) {
      return visited == kHeavy ? 3.75 + query / 32.0 : 0.0;
    });
    for (std::size_t i = 0; i < tensors.value.size(); ++i) {
      const bool is_heavy = i / kColumns == kKeys - 1 - kHeavy;
      tensors.value[i] = element_from_float(dtype, is_heavy ? 1.0f : 0.0f);
    }
    const HostRun actual = run_checked_sum(problem, tensors, RunningMax::kCheckedSum);
    for (int query = 0; query < kColumns; ++query) {
      const double weight = std::exp(3.75 + query / 32.0);
      const double expected = weight / (weight + kKeys - 1);
      const int bits = dtype == DataType::kFp16 ? 11 : 8;
      const double half_unit = std::ldexp(0.5, std::ilogb(expected) + 1 - bits);
      const double output = static_cast<double>(
          element_to_float(dtype, actual.output[static_cast<std::size_t>(query * kColumns)]));
      INFO(enum_name(dtype) << ", query " << query);
      CHECK(std::abs(output - expected) <= half_unit + 1e-6 * expected);
    }
  }
}

TEST_CASE("two newcomers that are heavy together move the reference of a checked row alone") {
  const Problem problem = checked_sum_problem(DataType::kBf16, MaskKind::kFull);
  // Neighbours belong to one thread. Each weighs less than an eighth of the row, which is all that
  // a maximum can tell.
  const HostTensors tensors = tensors_of(problem, [](int query, int visited) {
    const int key = kKeys - 1 - visited;
    return key / 2 == 20 ? 2.75 + query / 512.0 : 0.0;
  });
  const HostRun lazy = run_checked_sum(problem, tensors, RunningMax::kLazy);
  CHECK(run_checked_sum(problem, tensors, RunningMax::kCheckedSum).output != lazy.output);
}

}  // namespace heddle
