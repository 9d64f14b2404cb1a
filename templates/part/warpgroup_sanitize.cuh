#pragma once
// NaN and Inf in values that a row may not see, for kernels whose value tiles wgmma reads straight
// from shared memory (part/sanitize.cuh says why they matter). Warps that have nothing else to do
// look at every masked block before it is multiplied, since the loads of a tile cannot be asked for
// again.

#include "instruction/memory.cuh"
#include "instruction/thread.cuh"
#include "instruction/types.cuh"
#include "part/block_range.cuh"
#include "part/mask.cuh"
#include "part/nonfinite.cuh"
#include "part/stored_entry.cuh"
#include "part/value_entry.cuh"

namespace heddle {

/// Whether a tile has NaN or Inf, for each of the kThreads threads that call it in the bytes that
/// fall to it; these it replaces by 0. `thread` is the caller's number among them.
template <class Element, int kBytes, int kThreads>
inline bool sanitize_tile(unsigned char* tile, int thread) {
  int at = 16 * thread;
  if (kBytes < 16 * kThreads && at >= kBytes) return false;  // else each has something to look at
  unsigned seen = 0;
#pragma unroll 1
  do {
    const Bytes<16> chunk = load<16>(tile + at);
    for (const unsigned packed : chunk.value) seen = note_nonfinite(seen, packed, Element{});
    at += 16 * kThreads;
  } while (at < kBytes);
  if (seen == 0) return false;
  at = 16 * thread;
#pragma unroll 1
  do {
    Bytes<16> chunk = load<16>(tile + at);
#pragma unroll
    for (unsigned& packed : chunk.value) packed = without_nonfinite(packed, Element{});
    store<16>(tile + at, chunk);
    at += 16 * kThreads;
  } while (at < kBytes);
  return true;
}

/// Adds the non-finite values of the masked blocks of `range` to this warp's 16 stored rows, as far
/// as they see them. `place_of(row)` tells where one is: its query, its head, whether it exists;
/// `stored(place)` its first entry. All lanes call it after they have stored the rows.
template <class Config, class PlaceOf, class Stored>
inline void add_nonfinite_to_rows(PlaceOf place_of, Stored stored, const BlockRange& range,
                                  const Mask<Config>& mask, const AttentionParameters& parameters) {
  const int first_key = maximum(range.begin, range.first_masked) * Config::kTileN;
  const int end_key = minimum(range.end * Config::kTileN, mask.sequence.key_length);
  sync_warp();
#pragma unroll 1
  for (int column = lane(); column < Config::kHeadDim; column += kWarpSize) {
#pragma unroll 1
    for (int key = first_key; key < end_key; ++key) {
      const float value =
          value_entry<Config>(parameters, mask.item.batch, mask.item.kv_head, key, column);
      if (is_finite(value)) continue;
#pragma unroll 1
      for (int row = 0; row < 16; ++row) {
        const auto place = place_of(row);
        if (!place.exists || !mask.visible(place.query, key, place.head - mask.item.head)) continue;
        add_to(stored(place)[column], value);
      }
    }
  }
}

}  // namespace heddle
