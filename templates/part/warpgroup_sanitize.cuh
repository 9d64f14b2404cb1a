#pragma once
// NaN and Inf in values that a row may not see, for kernels whose value tiles wgmma reads straight
// from shared memory (part/sanitize.cuh says why they matter). Every masked block is looked at
// before its product, since the loads of a tile cannot be asked for again.

#include "instruction/fence.cuh"
#include "instruction/memory.cuh"
#include "instruction/thread.cuh"
#include "instruction/types.cuh"
#include "part/block_range.cuh"
#include "part/mask.cuh"

namespace heddle {

/// What the consumer warps tell each other; the two halves serve blocks in turns, so that nobody
/// writes what another still reads.
template <int kWarps>
struct NonfiniteVotes {
  int found[2][kWarps];
};

/// Replaces the NaN and Inf among 16 bytes of elements by 0; whether there was one.
template <class Element>
inline bool clear_nonfinite(Bytes<16>& chunk) {
  bool found = false;
#pragma unroll
  for (unsigned& pair : chunk.value) {
    const Element low{static_cast<unsigned short>(pair & 0xffffu)};
    const Element high{static_cast<unsigned short>(pair >> 16)};
    found = found || !is_finite(low) || !is_finite(high);
    pair &= (is_finite(low) ? 0xffffu : 0u) | (is_finite(high) ? 0xffff0000u : 0u);
  }
  return found;
}

/// All kWarps consumer warps call it with a tile that has landed; afterwards every wgmma may read
/// it. Returns, to each thread, whether any of them found NaN or Inf.
template <class Element, int kWarps>
inline bool sanitize_tile(unsigned char* tile, int bytes, NonfiniteVotes<kWarps>& votes, int turn,
                          int barrier) {
  bool found = false;
#pragma unroll 1
  for (int at = 16 * thread_index(); at < bytes; at += 16 * kWarps * kWarpSize) {
    Bytes<16> chunk = load<16>(tile + at);
    if (!clear_nonfinite<Element>(chunk)) continue;
    store<16>(tile + at, chunk);
    found = true;
  }
  found = warp_any(found);
  if (lane() == 0) votes.found[turn][warp()] = found;
  fence_async_shared();
  sync_team(barrier, kWarps * kWarpSize);
  int any = 0;
#pragma unroll
  for (int i = 0; i < kWarps; ++i) any |= votes.found[turn][i];
  return any != 0;
}

/// Adds the non-finite values of the masked blocks of `range` to this warp's 16 stored rows, from
/// `first_query` on, as far as they see them. All lanes call it after they have stored the rows.
template <class Config>
inline void add_nonfinite_to_rows(typename Config::Element* stored, long long row_stride,
                                  int first_query, const BlockRange& range,
                                  const Mask<Config>& mask, const AttentionParameters& parameters) {
  using Element = typename Config::Element;
  const int rows = minimum(mask.sequence.query_length - first_query, 16);
  const int end_key = mask.sequence.key_length;
  sync_warp();
#pragma unroll 1
  for (int column = lane(); column < Config::kHeadDim; column += kWarpSize) {
#pragma unroll 1
    for (int key = maximum(range.begin, range.first_masked) * Config::kTileN; key < end_key;
         ++key) {
      const float value = to_float(tensor_row<const Element>(parameters.value, mask.item.batch,
                                                             mask.item.kv_head, key)[column]);
      if (is_finite(value)) continue;
#pragma unroll 1
      for (int row = 0; row < rows; ++row) {
        if (!mask.visible(first_query + row, key)) continue;
        Element& entry = stored[row * row_stride + column];
        entry = from_float<Element>(to_float(entry) + value);
      }
    }
  }
}

}  // namespace heddle
