#pragma once
// What elements of 8-bit inputs have to be multiplied by, and what a quantiser has taken off them.
// Of 16-bit inputs all of this is 1 or nothing, and costs nothing.

#include "instruction/thread.cuh"
#include "parameters.cuh"
#include "part/sequence_info.cuh"

namespace heddle {

/// Probabilities are rounded to 8 bits as 2^4 times what they are: e4m3 is coarser below 2^-6, and
/// ends at 448.
template <class Config>
constexpr int probability_shift() {
  return Config::kScaledInputs ? 4 : 0;
}

/// The factor of a row of Q or K; `head` counts over the batch, `rows` is how many a head has.
template <class Config>
inline float row_descale(const float* factors, long long head, int rows, int row) {
  if constexpr (!Config::kScaledInputs) return 1.0f;
  if (factors == nullptr) return 1.0f;
  if constexpr (!Config::kScalePerHead) return factors[0];
  if constexpr (Config::kScaleRows == 0) {
    return factors[head];
  } else {
    return factors[head * ceil_divide(rows, Config::kScaleRows) + row / Config::kScaleRows];
  }
}

template <class Config>
inline float query_descale(const AttentionParameters& parameters, int batch, int head, int query) {
  const long long flat_head = static_cast<long long>(batch) * parameters.heads + head;
  return row_descale<Config>(parameters.query_descale, flat_head, parameters.seqlen_q, query);
}

template <class Config>
inline float key_descale(const AttentionParameters& parameters, int batch, int kv_head, int key) {
  const long long flat_head = static_cast<long long>(batch) * parameters.kv_heads + kv_head;
  return row_descale<Config>(parameters.key_descale, flat_head, parameters.seqlen_kv, key);
}

template <class Config>
inline float value_descale(const AttentionParameters& parameters, int batch, int kv_head) {
  if constexpr (!Config::kScaledInputs) return 1.0f;
  if (parameters.value_descale == nullptr) return 1.0f;
  const long long flat_head = static_cast<long long>(batch) * parameters.kv_heads + kv_head;
  return parameters.value_descale[Config::kScalePerHead ? flat_head : 0];
}

/// What was taken off a head's values, by column; null = nothing.
template <class Config>
inline const float* value_mean(const AttentionParameters& parameters, int batch, int kv_head) {
  if (!Config::kScaledInputs || parameters.value_mean == nullptr) return nullptr;
  const long long flat_head = static_cast<long long>(batch) * parameters.kv_heads + kv_head;
  return parameters.value_mean + flat_head * Config::kHeadDim;
}

/// What a row's log-sum-exp lacks; rows are numbered as flat_row does.
template <class Config>
inline float log_sum_exp_shift(const AttentionParameters& parameters, long long row) {
  if (!Config::kScaledInputs || parameters.log_sum_exp_shift == nullptr) return 0.0f;
  return parameters.log_sum_exp_shift[row];
}

}  // namespace heddle
