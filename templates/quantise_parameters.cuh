#pragma once
// What the launches of the quantiser know of one tensor, shared with the host.

#include "parameters.cuh"
#include "quantiser_layout.cuh"

namespace heddle {

/// Chunks of 32 columns that the widest head has.
constexpr int kMostChunks = 8;

/// Passed by value as the only argument of each of the quantiser's kernels; each reads its part.
struct QuantiseParameters {
  TensorView input;   ///< [batch, heads, rows, head_dim], 16-byte aligned rows
  TensorView output;  ///< e4m3, the same; or transposed [batch, heads, head_dim, positions]
  int batch;
  int heads;
  int rows;
  int tiles;  ///< of a head
  KnownDivisor by_tiles, by_heads;
  int positions;  ///< of transposed output: the rows in whole groups of kKeyGroup
  /// Of the columns that change their sign before they are rotated: rotation_signs of each chunk.
  unsigned signs[kMostChunks];

  /// What output elements are to be multiplied by: [1], [batch, heads], or that by tiles or rows.
  float* scales;
  /// [batch, heads, head_dim]: what is taken off each row first; and that rotated, where rows are.
  float* means;
  float* rotated_means;

  /// Between the kernels: a tile's column sums, smallest and largest numbers [batch, heads, tiles,
  /// statistics, head_dim], and largest magnitudes, `magnitudes_per_scale` of them to a scale.
  float* column_partials;
  float* magnitudes;
  int magnitudes_per_scale;

  /// Queries whose keys had means taken off: those means [batch, kv_heads, head_dim], and what each
  /// query's log-sum-exp lacks for it [batch, heads, rows].
  const float* key_means;
  float* log_sum_exp_shift;
  int kv_heads;
  float scale;  ///< multiplies q·k
};

}  // namespace heddle
