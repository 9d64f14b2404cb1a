#pragma once
// Fragments of a warpgroup as wgmma names them.

#include "part/fragment.cuh"

namespace heddle {

/// The registers of an accumulator, in wgmma's order: lane for lane that of mma.m16n8k16, one
/// column tile after the other.
template <int kColumnTiles>
inline float (&registers_of(Accumulator<1, kColumnTiles>& accumulator))[4 * kColumnTiles] {
  return reinterpret_cast<float(&)[4 * kColumnTiles]>(accumulator.value);
}

template <int kCount, int kColumnTiles>
inline float (
    &registers_of(Accumulator<1, kColumnTiles> (&accumulators)[kCount]))[kCount][4 * kColumnTiles] {
  return reinterpret_cast<float(&)[kCount][4 * kColumnTiles]>(accumulators);
}

}  // namespace heddle
