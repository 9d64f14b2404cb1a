#pragma once
// Which entries of a matrix a thread of a warpgroup holds in which register: the same for every
// wgmma form. Plain constexpr arithmetic for kernels, their host twin and tests.

namespace heddle {

struct MatrixPlace {
  int row;
  int column;
};

/// The entry of a 64 x N accumulator in register `index` of thread `thread` (0 to 127). Lane for
/// lane the accumulator of mma.m16n8k16, one 8-wide column tile after the other.
constexpr MatrixPlace wgmma_accumulator_place(int thread, int index) {
  return {16 * (thread / 32) + thread % 32 / 4 + 8 * (index / 2 % 2),
          8 * (index / 4) + 2 * (thread % 4) + index % 2};
}

/// Register `index` (0 to 3) of a 64 x 16 A operand holds two 16-bit elements, `part` 0 in the low
/// half. So accumulators rounded and packed two by two, in order, are operands of the next product.
constexpr MatrixPlace wgmma_operand_place_16bit(int thread, int index, int part) {
  return {16 * (thread / 32) + thread % 32 / 4 + 8 * (index % 2),
          8 * (index / 2) + 2 * (thread % 4) + part};
}

/// The same for a 64 x 32 A operand of 8-bit elements: four in a register, `part` 0 lowest.
constexpr MatrixPlace wgmma_operand_place_8bit(int thread, int index, int part) {
  return {16 * (thread / 32) + thread % 32 / 4 + 8 * (index % 2),
          16 * (index / 2) + 4 * (thread % 4) + part};
}

/// The 8-bit operand order asks for accumulators that other lanes hold. No lane needs to ask if
/// the other operand has its depth permuted alike: within 16 keys, `position` holds this key.
constexpr int wgmma_8bit_key(int position) {
  return position / 16 * 16 + 8 * (position % 4 / 2) + 2 * (position % 16 / 4) + position % 2;
}

/// Where, then, the values of a key are.
constexpr int wgmma_8bit_position(int key) {
  return key / 16 * 16 + 4 * (key % 8 / 2) + 2 * (key % 16 / 8) + key % 2;
}

/// Then register `index` of the operands (four for each 32 keys) packs, lowest first, these four
/// accumulators of the same thread: this one, the next, and the same two four registers on.
constexpr int wgmma_8bit_first_accumulator(int index) {
  return index / 2 * 8 + index % 2 * 2;
}

static_assert(wgmma_accumulator_place(37, 6).row == 16 + 1 + 8, "second warp, lane 5: row 1");
static_assert(wgmma_accumulator_place(37, 6).column == 8 + 2, "");
static_assert(wgmma_operand_place_16bit(2, 2, 1).column == 8 + 4 + 1, "");
static_assert(wgmma_operand_place_8bit(1, 3, 2).column == 16 + 4 + 2, "");
static_assert(wgmma_8bit_position(8) == 2 && wgmma_8bit_position(3) == 5 &&
              wgmma_8bit_position(31) == 31);
static_assert(wgmma_8bit_key(2) == 8 && wgmma_8bit_key(5) == 3 && wgmma_8bit_key(31) == 31,
              "0 1 8 9 2 3 10 11 4 5 12 13 6 7 14 15");

}  // namespace heddle
