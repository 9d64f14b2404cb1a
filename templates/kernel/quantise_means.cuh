#pragma once
// Quantiser: the means of a head's columns, from its tiles' sums; and the largest magnitude that is
// left without them, where the extremes are known. A block is a head, a thread a column.

#include "part/quantise_tile.cuh"

namespace heddle::quantise {

/// A row, a thread a column, with signs and rotated as tiles are, without the factor.
template <class Config>
inline float rotated_number(const QuantiseParameters& parameters, float number) {
  constexpr int kTogether = rotation_columns(Config::kHeadDim);
  const int column = thread_index();
  const unsigned signs = parameters.signs[column / kQuantiserChunk];
  const unsigned sign = signs << (column % kQuantiserChunk / 2 + (column % 2 == 0 ? 16 : 0));
  number = __uint_as_float(__float_as_uint(number) ^ (sign & 0x80000000u));
  auto* row = reinterpret_cast<float*>(shared_memory());
  for (int step = 1; step < kTogether; step *= 2) {
    row[column] = number;
    sync_block();
    const float other = row[column ^ step];
    number = (column & step) != 0 ? other - number : number + other;
    sync_block();
  }
  return number;
}

template <class Config>
inline void means(const QuantiseParameters& parameters) {
  constexpr int kStatistics = column_statistics(Config::kExtremes);
  static_assert(Config::kSharedBytes == Config::kHeadDim * sizeof(float),
                "the host's shared-memory size is not the kernel's");
  static_assert(Config::kThreads == Config::kHeadDim, "a thread for each column");
  const int column = thread_index();
  const long long head = block_index();
  const float* partials = parameters.column_partials +
                          head * parameters.tiles * kStatistics * Config::kHeadDim + column;
  float sum = 0.0f;
  float smallest = infinity();
  float largest = -infinity();
  for (int tile = 0; tile < parameters.tiles; ++tile) {
    sum += partials[0];
    if constexpr (Config::kExtremes) {
      smallest = -maximum(-smallest, -partials[Config::kHeadDim]);
      largest = maximum(largest, partials[2 * Config::kHeadDim]);
    }
    partials += kStatistics * Config::kHeadDim;
  }
  const float mean = sum / static_cast<float>(parameters.rows);
  parameters.means[head * Config::kHeadDim + column] = mean;
  if constexpr (Config::kRotate) {
    parameters.rotated_means[head * Config::kHeadDim + column] =
        rotated_number<Config>(parameters, mean);
  }
  if constexpr (Config::kExtremes) {
    // Where no number was finite, the extremes are not either.
    const float below = is_finite(smallest - mean) ? magnitude(smallest - mean) : 0.0f;
    const float above = is_finite(largest - mean) ? magnitude(largest - mean) : 0.0f;
    const float magnitude = block_maximum<Config>(maximum(below, above));
    if (column == 0) parameters.magnitudes[head] = magnitude;
  }
}

}  // namespace heddle::quantise
