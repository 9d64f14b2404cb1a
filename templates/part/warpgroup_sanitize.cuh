#pragma once
// NaN and Inf in values that a row may not see, for kernels whose value tiles wgmma reads straight
// from shared memory (part/sanitize.cuh says why they matter). Warps that have nothing else to do
// look at every masked block before it is multiplied, since the loads of a tile cannot be asked for
// again.

#include "instruction/memory.cuh"
#include "instruction/thread.cuh"
#include "instruction/types.cuh"
#include "part/block_range.cuh"
#include "part/lane_row.cuh"
#include "part/mask.cuh"
#include "part/nonfinite.cuh"
#include "part/value_entry.cuh"

namespace heddle {

/// Whether a tile has NaN or Inf, for each of the `threads` threads that call it in the bytes that
/// fall to it; these it replaces by 0. `thread` is the caller's number among them.
template <class Element, int kBytes>
inline bool sanitize_tile(unsigned char* tile, int thread, int threads) {
  unsigned seen = 0;
#pragma unroll 1
  for (int at = 16 * thread; at < kBytes; at += 16 * threads) {
    const Bytes<16> chunk = load<16>(tile + at);
    for (const unsigned packed : chunk.value) seen = note_nonfinite(seen, packed, Element{});
  }
  if (seen == 0) return false;
#pragma unroll 1
  for (int at = 16 * thread; at < kBytes; at += 16 * threads) {
    Bytes<16> chunk = load<16>(tile + at);
#pragma unroll
    for (unsigned& packed : chunk.value) packed = without_nonfinite(packed, Element{});
    store<16>(tile + at, chunk);
  }
  return true;
}

/// For each column the sum of the non-finite values in the masked blocks of `range` that a row sees.
/// All lanes of a warp call it. `head` counts from the item's.
template <class Config>
inline LaneRow<Config> nonfinite_values(const AttentionParameters& parameters,
                                        const Mask<Config>& mask, const BlockRange& range,
                                        int query, int head) {
  const int first_key = maximum(range.begin, range.first_masked) * Config::kTileN;
  const int end_key = minimum(range.end * Config::kTileN, mask.sequence.key_length);
  LaneRow<Config> row;
  row.fill([&](int, int column) {
    float sum = 0.0f;
#pragma unroll 1
    for (int key = first_key; key < end_key; ++key) {
      const float value =
          value_entry<Config>(parameters, mask.item.batch, mask.item.kv_head, key, column);
      if (!is_finite(value) && mask.visible(query, key, head)) sum += value;
    }
    return sum;
  });
  return row;
}

}  // namespace heddle
