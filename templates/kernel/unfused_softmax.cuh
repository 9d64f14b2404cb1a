#pragma once
// Unfused attention, second of three kernels: P = softmax(scale * S), row by row. P (Element) is
// written over the front of its own row of scores, and the row's log-sum-exp beside. Only the keys
// that a row may see are read and written.
//
// A block owns as many rows as it has warps. Short rows take a warp each, longer ones the whole
// block one after the other; both keep the row in registers, so that HBM sees 4 bytes read and 2
// written per score. A row that no block can hold is read twice.

#include "instruction/math.cuh"
#include "instruction/memory.cuh"
#include "instruction/thread.cuh"
#include "instruction/types.cuh"
#include "parameters.cuh"
#include "part/sequence_info.cuh"

namespace heddle::unfused {

constexpr int kGroup = 4;       ///< scores in one access
constexpr int kGroupsHeld = 8;  ///< accesses of one thread that registers hold

/// One row, and how its scores become logits in log2 units.
struct SoftmaxRow {
  float* scores;
  int keys;  ///< the row sees keys [0, keys), masks of hooks aside
  int batch;
  int head;
  int query;
};

template <class Config>
inline SoftmaxRow find_row(const AttentionParameters& parameters, long long flat) {
  const long long flat_head = flat / parameters.seqlen_q;
  SoftmaxRow row;
  row.query = static_cast<int>(flat % parameters.seqlen_q);
  row.batch = static_cast<int>(flat_head / parameters.heads);
  row.head = static_cast<int>(flat_head % parameters.heads);
  row.scores = parameters.scores + flat * parameters.score_pitch;
  const SequenceInfo sequence(parameters, row.batch);
  row.keys = Config::kCausal ? sequence.causal_keys(row.query) : sequence.key_length;
  return row;
}

/// Four logits (log2 units) from `key` on; -inf where the row may not see.
template <class Config>
inline void load_logits(float (&logits)[kGroup], const AttentionParameters& parameters,
                        const SoftmaxRow& row, int key) {
  const Bytes<16> scores = load<16>(row.scores + key);
#pragma unroll
  for (int i = 0; i < kGroup; ++i) {
    const ScorePosition position{row.batch, row.head, row.query, key + i};
    float score = __uint_as_float(scores.value[i]);
    if constexpr (Config::kScoreHook) {
      logits[i] = Config::score(score * parameters.scale, position) * kLog2E;
    } else {
      logits[i] = score * parameters.scale_log2;
    }
    bool visible = key + i < row.keys;
    if constexpr (Config::kMaskHook) visible = visible && Config::visible(position);
    if (!visible) logits[i] = -infinity();
  }
}

template <class Element>
inline void store_probabilities(const SoftmaxRow& row, int key, const float (&p)[kGroup]) {
  store<8>(reinterpret_cast<Element*>(row.scores) + key,
           Bytes<8>{{pack(p[0], p[1], Element{}), pack(p[2], p[3], Element{})}});
}

/// Maximum (log2 units) and sum of a row or of a part of it.
struct Statistics {
  float maximum = -infinity();
  float sum = 0.0f;

  /// Exponents are taken relative to this: -inf - -inf would be NaN.
  float reference() const { return maximum == -infinity() ? 0.0f : maximum; }
  float inverse_sum() const { return sum == 0.0f ? 0.0f : 1.0f / sum; }
  float log_sum_exp() const {
    return sum == 0.0f ? -infinity() : (maximum + fast_log2(sum)) * kLn2;
  }
};

/// The threads that share a row: a warp, or the block.
template <int kThreads>
struct RowTeam {
  static int thread() { return thread_index() % kThreads; }

  static void sync() {
    if constexpr (kThreads == kWarpSize) {
      sync_warp();
    } else {
      sync_block();
    }
  }

  template <class Combine>
  static float reduce(float value, Combine combine) {
#pragma unroll
    for (int mask = kWarpSize / 2; mask > 0; mask /= 2) {
      value = combine(value, shuffle_xor(value, mask));
    }
    if constexpr (kThreads > kWarpSize) {
      constexpr int kWarps = kThreads / kWarpSize;
      float* parts = reinterpret_cast<float*>(shared_memory());
      sync_block();  // the parts of the reduction before have been read
      if (lane() == 0) parts[warp()] = value;
      sync_block();
      value = parts[0];
#pragma unroll
      for (int i = 1; i < kWarps; ++i) value = combine(value, parts[i]);
    }
    return value;
  }

  static float largest(float value) {
    return reduce(value, [](float a, float b) { return maximum(a, b); });
  }
  static float total(float value) {
    return reduce(value, [](float a, float b) { return a + b; });
  }
};

/// Softmax of a row of at most kThreads * kGroup * kGroupsHeld keys, which stays in registers.
template <class Config, int kThreads>
inline Statistics softmax_held(const AttentionParameters& parameters, const SoftmaxRow& row) {
  using Team = RowTeam<kThreads>;
  const int first_key = Team::thread() * kGroup;
  float logits[kGroupsHeld][kGroup];
  Statistics statistics;
#pragma unroll
  for (int g = 0; g < kGroupsHeld; ++g) {
    const int key = first_key + g * kThreads * kGroup;
    if (key < row.keys) load_logits<Config>(logits[g], parameters, row, key);
  }
#pragma unroll
  for (int g = 0; g < kGroupsHeld; ++g) {
    if (first_key + g * kThreads * kGroup >= row.keys) continue;
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      statistics.maximum = maximum(statistics.maximum, logits[g][i]);
    }
  }
  statistics.maximum = Team::largest(statistics.maximum);
#pragma unroll
  for (int g = 0; g < kGroupsHeld; ++g) {
    if (first_key + g * kThreads * kGroup >= row.keys) continue;
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      logits[g][i] = fast_exp2(logits[g][i] - statistics.reference());
      statistics.sum += logits[g][i];
    }
  }
  statistics.sum = Team::total(statistics.sum);
  const float inverse_sum = statistics.inverse_sum();
#pragma unroll
  for (int g = 0; g < kGroupsHeld; ++g) {
    const int key = first_key + g * kThreads * kGroup;
    if (key >= row.keys) continue;
#pragma unroll
    for (int i = 0; i < kGroup; ++i) logits[g][i] *= inverse_sum;
    store_probabilities<typename Config::Element>(row, key, logits[g]);
  }
  return statistics;
}

/// Softmax of a row of any length by the whole block, reading it twice. The statistics of a thread
/// are kept online; P overwrites scores that every thread has read.
template <class Config>
inline Statistics softmax_streamed(const AttentionParameters& parameters, const SoftmaxRow& row) {
  constexpr int kStep = Config::kThreads * kGroup;
  using Team = RowTeam<Config::kThreads>;
  const int first_key = Team::thread() * kGroup;
  float logits[kGroup];
  Statistics mine;
  for (int key = first_key; key < row.keys; key += kStep) {
    load_logits<Config>(logits, parameters, row, key);
    const Statistics before = mine;
    for (float logit : logits) mine.maximum = maximum(mine.maximum, logit);
    mine.sum *= fast_exp2(before.maximum - mine.reference());
    for (float logit : logits) mine.sum += fast_exp2(logit - mine.reference());
  }
  Statistics statistics;
  statistics.maximum = Team::largest(mine.maximum);
  statistics.sum = Team::total(mine.sum * fast_exp2(mine.maximum - statistics.reference()));
  const float inverse_sum = statistics.inverse_sum();
  for (int step = 0; step < row.keys; step += kStep) {
    const int key = step + first_key;
    if (key < row.keys) load_logits<Config>(logits, parameters, row, key);
    Team::sync();
    if (key >= row.keys) continue;
    for (float& logit : logits) logit = fast_exp2(logit - statistics.reference()) * inverse_sum;
    store_probabilities<typename Config::Element>(row, key, logits);
  }
  return statistics;
}

template <class Config>
inline void store_log_sum_exp(const AttentionParameters& parameters, long long flat,
                              const Statistics& statistics, int thread) {
  if (thread == 0 && parameters.log_sum_exp != nullptr) {
    parameters.log_sum_exp[flat] = statistics.log_sum_exp();
  }
}

template <class Config>
inline void softmax(const AttentionParameters& parameters) {
  constexpr int kRows = Config::kThreads / kWarpSize;
  constexpr int kHeld = kGroup * kGroupsHeld;
  static_assert(Config::kThreads % kWarpSize == 0 && kRows > 1);
  static_assert(Config::kSharedBytes == kRows * sizeof(float),
                "the host's shared-memory size is not the kernel's");
  const long long first = static_cast<long long>(block_index()) * kRows;
  const long long rows = flat_row(parameters, parameters.batch, 0, 0);

  if (parameters.seqlen_kv <= kWarpSize * kHeld) {
    const long long flat = first + warp();
    if (flat >= rows) return;
    const SoftmaxRow row = find_row<Config>(parameters, flat);
    store_log_sum_exp<Config>(parameters, flat, softmax_held<Config, kWarpSize>(parameters, row),
                              lane());
    return;
  }
#pragma unroll 1
  for (long long flat = first; flat < first + kRows && flat < rows; ++flat) {
    const SoftmaxRow row = find_row<Config>(parameters, flat);
    const Statistics statistics = row.keys <= Config::kThreads * kHeld
                                      ? softmax_held<Config, Config::kThreads>(parameters, row)
                                      : softmax_streamed<Config>(parameters, row);
    store_log_sum_exp<Config>(parameters, flat, statistics, thread_index());
  }
}

}  // namespace heddle::unfused
