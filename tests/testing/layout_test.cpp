#include "runtime/testing/layout.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "runtime/testing/inputs.hpp"

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
