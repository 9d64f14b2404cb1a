#include "runtime/testing/layout.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <set>

#include "runtime/testing/element.hpp"
#include "runtime/testing/inputs.hpp"
#include "runtime/testing/scales.hpp"

using namespace heddle;

namespace {
constexpr TensorShape kShape{2, 3, 5, 8};
constexpr std::uint16_t kGap = 0x7fff;
}  // namespace

TEST_CASE("each layout says where its elements lie") {
  CHECK(layout_strides(Layout::kBatchHeadRow, kShape) == Strides{120, 40, 8});
  CHECK(layout_strides(Layout::kBatchRowHead, kShape) == Strides{120, 8, 24});
  CHECK(layout_strides(Layout::kEverySecondRow, kShape) == Strides{240, 80, 16});
  CHECK(layout_strides(Layout::kOddPitch, kShape) == Strides{135, 45, 9});
  CHECK(effective_strides({}, kShape) == Strides{120, 40, 8});
}

TEST_CASE("storage reaches to the last element and not beyond") {
  CHECK(storage_elements({}, kShape) == 240);
  CHECK(storage_elements(layout_strides(Layout::kEverySecondRow, kShape), kShape) == 480 - 8);
  CHECK(storage_elements({}, {2, 3, 0, 8}) == 0);
}

TEST_CASE("scatter and gather are inverse, and gaps hold NaN") {
  std::vector<std::uint16_t> values(kShape.elements());
  std::iota(values.begin(), values.end(), std::uint16_t{0});
  for (const auto& [layout, name] : EnumNames<Layout>::names) {
    INFO(name);
    const Strides strides = layout_strides(layout, kShape);
    const auto storage = scatter(values, strides, kShape);
    CHECK(gather(storage, strides, kShape) == values);
    const auto gaps = std::count(storage.begin(), storage.end(), kGap);
    CHECK(static_cast<std::size_t>(gaps) == storage.size() - values.size());
    // [1, 2, 3, 4] by hand
    CHECK(storage[strides.batch + 2 * strides.head + 3 * strides.row + 4] ==
          ((1 * 3 + 2) * 5 + 3) * 8 + 4);
  }
}

TEST_CASE("the alignment class follows from the strides") {
  Problem problem;
  problem.variant.head_dim = 64;
  problem.sizes = {.batch = 2, .heads = 4, .seqlen_q = 6, .seqlen_kv = 10};
  CHECK(stride_alignment(problem) == 16);
  problem.sizes.value_strides = layout_strides(Layout::kOddPitch, key_value_shape(problem));
  CHECK(stride_alignment(problem) == 2);
  problem.sizes.value_strides = {68 * 10 * 4, 68 * 10, 68};
  CHECK(stride_alignment(problem) == 8);
}

TEST_CASE("inputs repeat with their seed, differ without it, and follow the strides") {
  Problem problem;
  problem.variant.head_dim = 64;
  problem.sizes = {.batch = 2, .heads = 4, .kv_heads = 2, .seqlen_q = 6, .seqlen_kv = 10};
  const HostTensors first = make_inputs(problem, InputKind::kNormal, 1);
  CHECK(first.query == make_inputs(problem, InputKind::kNormal, 1).query);
  CHECK(first.query != make_inputs(problem, InputKind::kNormal, 2).query);
  CHECK(first.key.size() == 2 * 2 * 10 * 64);
  CHECK(first.key != first.value);

  Problem strided = problem;
  strided.sizes.key_strides = layout_strides(Layout::kBatchRowHead, key_value_shape(problem));
  const HostTensors spread = make_inputs(strided, InputKind::kNormal, 1);
  CHECK(spread.query == first.query);
  CHECK(gather(spread.key, strided.sizes.key_strides, key_value_shape(problem)) == first.key);
}

TEST_CASE(
    "transposed V has the keys of each 16 in the order of 8-bit products, and ends with zeros") {
  Problem problem;
  problem.variant = {
      .dtype = DataType::kE4m3, .head_dim = 32, .value_layout = ValueLayout::kTransposed};
  problem.sizes = {.heads = 2, .seqlen_q = 1, .seqlen_kv = 21};
  std::vector<std::uint16_t> rows(2 * 21 * 32);
  std::iota(rows.begin(), rows.end(), std::uint16_t{1});
  const auto transposed = lay_out_values(problem, rows);
  const TensorShape shape = value_shape(problem);
  REQUIRE((shape.rows == 32 && shape.columns == 32));
  REQUIRE(transposed.size() == 2 * 32 * 32);
  const int order[] = {0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15};
  int wrong = 0;
  for (int head = 0; head < 2; ++head) {
    for (int column = 0; column < 32; ++column) {
      for (int place = 0; place < 32; ++place) {
        const int key = place / 16 * 16 + order[place % 16];
        const int expected = key < 21 ? (head * 21 + key) * 32 + column + 1 : 0;
        wrong += transposed[(head * 32 + column) * 32 + place] != expected;
      }
    }
  }
  CHECK(wrong == 0);
  // A longer tensor of which 5 keys are left.
  problem.sizes.value_strides = effective_strides({}, shape);
  problem.sizes.seqlen_kv = 5;
  const auto cleared = clear_value_padding(problem, transposed);
  CHECK(cleared[32 * 32 + 7 * 32 + 8] == transposed[32 * 32 + 7 * 32 + 8]);  // key 4
  CHECK(cleared[32 * 32 + 7 * 32 + 9] == 0);                                 // key 5
  CHECK(cleared[32 * 32 + 7 * 32 + 16] == transposed[32 * 32 + 7 * 32 + 16]);
}

TEST_CASE("e4m3 inputs are their numbers but for a rounding, whatever the scales") {
  Problem problem;
  problem.variant = {.dtype = DataType::kE4m3, .head_dim = 64};
  problem.sizes = {.batch = 2, .heads = 4, .kv_heads = 2, .seqlen_q = 6, .seqlen_kv = 300};
  const auto kind = GENERATE(InputKind::kNormal, InputKind::kLargeLogits, InputKind::kRising);
  for (const auto& [scales, name] : EnumNames<ScaleKind>::names) {
    INFO(name);
    problem.variant.scales = scales;
    const InputNumbers numbers = make_numbers(problem, kind, 4, 600);
    const HostTensors tensors = make_inputs(problem, kind, 4, 600);
    const ScaleShape shape = key_scale_shape(problem);
    CHECK(tensors.scales.key_descale.size() == shape.count());
    int wrong = 0;
    std::set<float> distinct(tensors.scales.key_descale.begin(), tensors.scales.key_descale.end());
    CHECK(distinct.size() == shape.count());
    for (int row = 0; row < 2 * 2 * 300; ++row) {
      const float scale =
          tensors.scales.key_descale[shape.index(row / 600, row / 300 % 2, row % 300)];
      for (int column = 0; column < 64; ++column) {
        const float number = numbers.key[row * 64 + column];
        const float stored = e4m3_to_float(tensors.key[row * 64 + column]) * scale;
        wrong += std::abs(stored - number) > std::abs(number) / 16 + scale * 0x1p-10f;
      }
    }
    CHECK(wrong == 0);
  }
}
