#include "generator/stride_check.hpp"

#include <climits>

#include "tests/generator/rejection_matcher.hpp"

namespace heddle {
namespace {

Problem small_problem() {
  Problem problem;
  problem.variant.head_dim = 64;
  problem.sizes = {.batch = 2, .heads = 4, .seqlen_q = 100, .seqlen_kv = 100};
  return problem;
}

TEST_CASE("Default strides are contiguous [batch, head, row, column]") {
  CHECK(resolved_strides({}, 4, 100, 64) == Strides{4 * 100 * 64, 100 * 64, 64});
  CHECK(resolved_strides({1, 2, 3}, 4, 100, 64) == Strides{1, 2, 3});
  CHECK(resolved_strides({}, 1 << 20, 1 << 20, 256).batch == 1LL << 48);
}

TEST_CASE("The usual layouts are accepted") {
  Problem problem = small_problem();
  const Strides rows_outside{100 * 4 * 64, 64, 4 * 64};  // [batch, row, head, column]
  const Strides packed_qkv{100 * 3 * 4 * 64, 64, 3 * 4 * 64};
  for (const Strides& strides : {rows_outside, packed_qkv}) {
    problem.sizes.query_strides = problem.sizes.key_strides = strides;
    problem.sizes.value_strides = problem.sizes.output_strides = strides;
    CHECK_FALSE(reject_problem(problem).has_value());
  }
}

TEST_CASE("Strides of e4m3 are bytes, of its O two; V's are those of its layout") {
  Problem problem = small_problem();
  problem.variant.dtype = DataType::kE4m3;
  problem.variant.alignment = 16;
  problem.sizes.key_strides = {100 * 4 * 72, 100 * 72, 72};  // 8 bytes, 16 of two-byte elements
  check_invalid(reject_problem(problem), "key_strides.row", "72");
  problem.sizes.key_strides = {};
  problem.sizes.output_strides = {100 * 4 * 72, 100 * 72, 72};
  CHECK_FALSE(reject_problem(problem).has_value());
  problem.variant.value_layout = ValueLayout::kTransposed;
  problem.sizes.value_strides = {64 * 4 * 112, 64 * 112, 112};
  CHECK_FALSE(reject_problem(problem).has_value());
  problem.sizes.value_strides.row = 100;
  check_invalid(reject_problem(problem), "value_strides.row", "100");
  problem.sizes.value_strides = {};
  problem.sizes.seqlen_kv = INT_MAX;
  problem.sizes.batch = problem.sizes.heads = 1;
  check_invalid(reject_problem(problem), "seqlen_kv", "transposed");
}

TEST_CASE("Negative strides are refused, but only where they are walked") {
  Problem problem = small_problem();
  problem.sizes.value_strides = {100 * 4 * 64, 100 * 64, -64};
  check_invalid(reject_problem(problem), "value_strides.row", "-64");
  problem.sizes.batch = 1;
  problem.sizes.value_strides = {-7, 100 * 64, 64};
  CHECK_FALSE(reject_problem(problem).has_value());
}

TEST_CASE("Inputs may be broadcast, the output may not") {
  Problem problem = small_problem();
  const Strides broadcast_heads{100 * 64, 0, 64};
  problem.sizes.query_strides = problem.sizes.key_strides = broadcast_heads;
  problem.sizes.value_strides = broadcast_heads;
  CHECK_FALSE(reject_problem(problem).has_value());
  problem.sizes.output_strides = broadcast_heads;
  check_invalid(reject_problem(problem), "output_strides.head", "0");
}

TEST_CASE("Rows of the output must not overlap") {
  Problem problem = small_problem();
  problem.sizes.output_strides = {100 * 4 * 64, 100 * 64, 56};
  check_invalid(reject_problem(problem), "output_strides.row", "56");
  problem.sizes.output_strides = {100 * 4 * 64, 99 * 64, 64};
  check_invalid(reject_problem(problem), "output_strides.head", std::to_string(99 * 64));
  problem.sizes.output_strides = {4 * 64, 64, 4 * 64};  // batches on top of rows
  CHECK(reject_problem(problem).has_value());
}

TEST_CASE("C32 strides must be multiples of the stated alignment") {
  Problem problem = small_problem();
  problem.sizes.key_strides = {100 * 4 * 66, 100 * 66, 66};
  check_invalid(reject_problem(problem), "key_strides.row", "66");
  problem.variant.alignment = 4;
  CHECK_FALSE(reject_problem(problem).has_value());
  problem.sizes.key_strides = {100 * 4 * 65, 100 * 65, 65};
  check_invalid(reject_problem(problem), "key_strides.row", "65");
  problem.variant.alignment = 2;
  CHECK_FALSE(reject_problem(problem).has_value());
}

TEST_CASE("C82 extents and strides that leave 63 bits are refused without overflowing") {
  Problem problem = small_problem();
  problem.sizes = {.batch = INT_MAX, .heads = INT_MAX, .seqlen_q = INT_MAX, .seqlen_kv = 1};
  CHECK(reject_problem(problem).has_value());
  problem.sizes = {.batch = INT_MAX, .heads = INT_MAX, .seqlen_q = 1, .seqlen_kv = INT_MAX};
  CHECK(reject_problem(problem).has_value());
  problem = small_problem();
  problem.sizes.query_strides = {LLONG_MAX / 16 * 16, 64, 64};
  CHECK_FALSE(reject_problem(problem).value().unsupported);
  problem.sizes.query_strides = {LLONG_MAX / 32 * 16, 100 * 64, 64};  // fits; in bytes it does not
  CHECK(reject_problem(problem).has_value());
  problem.sizes.query_strides = {1LL << 60, 100 * 64, 64};
  CHECK_FALSE(reject_problem(problem).has_value());
}

TEST_CASE("C14 large but honest problems pass") {
  Problem problem;
  problem.variant.head_dim = 64;
  problem.sizes = {.batch = 65536, .heads = 1, .seqlen_q = 1, .seqlen_kv = 1};
  CHECK_FALSE(reject_problem(problem).has_value());
  problem.sizes = {.batch = 1, .heads = 65537, .seqlen_q = 1, .seqlen_kv = 1};
  CHECK_FALSE(reject_problem(problem).has_value());
  problem.sizes = {.batch = 1, .heads = 1, .seqlen_q = 64 * 65535 + 1, .seqlen_kv = 16};
  CHECK_FALSE(reject_problem(problem).has_value());
}

TEST_CASE("C83 strides of an empty problem are not looked at") {
  Problem problem = small_problem();
  problem.sizes.seqlen_q = 0;
  problem.sizes.output_strides = {0, 0, -1};
  CHECK_FALSE(reject_problem(problem).has_value());
}

}  // namespace
}  // namespace heddle
