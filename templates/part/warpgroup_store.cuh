#pragma once
// Writes a warpgroup's finished rows straight from registers.

#include "instruction/memory.cuh"
#include "part/fragment.cuh"

namespace heddle {

/// Transposes a 4 x 4 matrix of registers held by four neighbouring lanes: afterwards lane i of the
/// four holds what register i of each lane was.
inline void transpose_quad(unsigned (&value)[4]) {
#pragma unroll
  for (int bit = 1; bit <= 2; bit *= 2) {
    const bool upper = lane() % (2 * bit) >= bit;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i & bit) continue;
      const unsigned sent = upper ? value[i] : value[i + bit];
      const unsigned got = shuffle_xor(sent, bit);
      value[i] = upper ? got : value[i];
      value[i + bit] = upper ? value[i + bit] : got;
    }
  }
}

/// Rounds one of a thread's two rows to Element and stores it at `to` where the row exists. Four
/// lanes share a row, and all call this: they exchange pairs of columns, so that each stores 16
/// bytes.
template <class Config, int kColumnTiles>
inline void store_fragment_row(const Accumulator<1, kColumnTiles>& output, int row,
                               typename Config::OutputElement* to, bool exists) {
  using Element = typename Config::OutputElement;
#pragma unroll
  for (int c = 0; c + 4 <= Config::kHeadDim / 8; c += 4) {
    unsigned packed[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      packed[i] =
          pack(output.value[0][c + i][2 * row], output.value[0][c + i][2 * row + 1], Element{});
    }
    transpose_quad(packed);
    const Bytes<16> bytes{{packed[0], packed[1], packed[2], packed[3]}};
    store_global_if(exists, to + 8 * (c + lane() % 4), bytes);
  }
#pragma unroll
  for (int c = Config::kHeadDim / 32 * 4; c < Config::kHeadDim / 8; ++c) {
    const unsigned packed =
        pack(output.value[0][c][2 * row], output.value[0][c][2 * row + 1], Element{});
    if (exists) store<4>(to + 8 * c + 2 * (lane() % 4), Bytes<4>{packed});
  }
}

}  // namespace heddle
