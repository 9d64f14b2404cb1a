#pragma once
// Unfused attention, second of three kernels: P = softmax(scale * S), row by row. P (Element) is
// written over the front of its own row of scores, and the row's log-sum-exp beside. Only the keys
// that a row may see are read and written.
//
// A block owns kSoftmaxRowsPerWarp rows for each of its warps. HBM is busy only if many bytes are
// on their way, so a thread always asks for kGroupsHeld accesses at once: of four short rows of its
// warp, or of a longer row that the warp or a team of four warps holds. (With 16 instead of 8 fewer
// threads fit an SM, and an H200 took 0.55 ms instead of 0.46 for 256 heads of 1024 x 1024.) Each
// score is then read once and each probability written once. Still longer rows are read twice, by
// the whole block.

#include "instruction/math.cuh"
#include "instruction/memory.cuh"
#include "instruction/thread.cuh"
#include "instruction/types.cuh"
#include "parameters.cuh"
#include "part/log_sum_exp.cuh"
#include "part/reduce_lanes.cuh"
#include "part/sequence_info.cuh"

namespace heddle::unfused {

constexpr int kGroup = 4;       ///< scores in one access
constexpr int kGroupsHeld = 8;  ///< accesses whose results a thread keeps in registers

/// One row, and the keys it sees.
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

/// Four scores (unscaled) from `key` on; -inf where the row may not see.
template <class Config>
inline void load_scores(float (&scores)[kGroup], const AttentionParameters& parameters,
                        const SoftmaxRow& row, int key) {
  const Bytes<16> loaded = load<16>(row.scores + key);
#pragma unroll
  for (int i = 0; i < kGroup; ++i) {
    const ScorePosition position{row.batch, row.head, row.query, key + i};
    scores[i] = __uint_as_float(loaded.value[i]);
    if constexpr (Config::kScoreHook) {
      scores[i] = Config::score(scores[i] * parameters.scale, position) / parameters.scale;
    }
    bool visible = key + i < row.keys;
    if constexpr (Config::kMaskHook) visible = visible && Config::visible(position);
    if (!visible) scores[i] = -infinity();
  }
}

template <class Element>
inline void store_probabilities(const SoftmaxRow& row, int key, const float (&p)[kGroup]) {
  store<8>(reinterpret_cast<Element*>(row.scores) + key,
           Bytes<8>{{pack(p[0], p[1], Element{}), pack(p[2], p[3], Element{})}});
}

/// Largest score and sum of a row or of a part of it.
struct Statistics {
  float maximum = -infinity();
  float sum = 0.0f;

  /// Exponents are taken relative to this: -inf - -inf would be NaN.
  float reference() const { return maximum == -infinity() ? 0.0f : maximum; }
  float inverse_sum() const { return sum == 0.0f ? 0.0f : 1.0f / sum; }
  /// Before it is divided by the sum: 1 at the maximum, however large that is.
  float probability(float score, float scale_log2) const {
    return fast_exp2((score - reference()) * scale_log2);
  }
};

template <class Config>
inline void store_log_sum_exp(const AttentionParameters& parameters, long long flat,
                              const Statistics& statistics, int thread) {
  if (thread == 0 && parameters.log_sum_exp != nullptr) {
    // Probabilities are relative to the score itself.
    const auto base = ExponentBase::exact(statistics.maximum, parameters.scale_log2);
    parameters.log_sum_exp[flat] = log_sum_exp<Config>(parameters, base, statistics.sum);
  }
}

/// Threads that share rows: a warp, or several of them.
template <int kThreads>
struct RowTeam {
  static constexpr int kWarps = kThreads / kWarpSize;

  static int index() { return thread_index() / kThreads; }
  static int thread() { return thread_index() % kThreads; }

  static void sync() {
    if constexpr (kThreads == kWarpSize) {
      sync_warp();
    } else {
      sync_team(1 + index(), kThreads);
    }
  }

  template <class Combine>
  static float reduce(float value, Combine combine) {
    value = reduce_lanes<kWarpSize>(value, combine);
    if constexpr (kThreads > kWarpSize) {
      float* parts = reinterpret_cast<float*>(shared_memory()) + index() * kWarps;
      sync();  // the parts of the reduction before have been read
      if (lane() == 0) parts[warp() % kWarps] = value;
      sync();
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

/// A thread's share of one row in registers: groups thread, thread + kThreads, ... of it.
template <class Config, int kThreads, int kGroups>
struct HeldRow {
  using Team = RowTeam<kThreads>;

  SoftmaxRow row;
  /// Scores, then probabilities.
  float entries[kGroups][kGroup];

  static int key(int group) { return (Team::thread() + group * kThreads) * kGroup; }

  void load(const AttentionParameters& parameters) {
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
#pragma unroll
      for (float& score : entries[g]) score = -infinity();
      if (key(g) < row.keys) load_scores<Config>(entries[g], parameters, row, key(g));
    }
  }

  Statistics exponentiate(float scale_log2) {
    Statistics statistics;
    float largest = -infinity();
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
#pragma unroll
      for (int i = 0; i < kGroup; ++i) largest = maximum(largest, entries[g][i]);
    }
    statistics.maximum = Team::largest(largest);
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      if (key(g) >= row.keys) continue;
#pragma unroll
      for (float& entry : entries[g]) {
        entry = statistics.probability(entry, scale_log2);
        statistics.sum += entry;
      }
    }
    statistics.sum = Team::total(statistics.sum);
    return statistics;
  }

  void store(float inverse_sum) {
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      if (key(g) >= row.keys) continue;
#pragma unroll
      for (float& probability : entries[g]) probability *= inverse_sum;
      store_probabilities<typename Config::Element>(row, key(g), entries[g]);
    }
  }
};

/// Rows [first, first + kRowCount) of a team, all loaded before the first is used. Of its own row a
/// thread overwrites what the team has read: a barrier stands between, that of the reductions where
/// the team is several warps.
template <class Config, int kThreads, int kRowCount>
inline void softmax_held(const AttentionParameters& parameters, long long first, long long rows) {
  using Held = HeldRow<Config, kThreads, kGroupsHeld / kRowCount>;
  Held held[kRowCount];
#pragma unroll
  for (int i = 0; i < kRowCount; ++i) {
    held[i].row = find_row<Config>(parameters, first + i < rows ? first + i : rows - 1);
    held[i].load(parameters);
  }
  if constexpr (kThreads == kWarpSize) sync_warp();  // a warp's shuffles order no memory
#pragma unroll
  for (int i = 0; i < kRowCount; ++i) {
    if (first + i >= rows) return;
    const Statistics statistics = held[i].exponentiate(parameters.scale_log2);
    held[i].store(statistics.inverse_sum());
    store_log_sum_exp<Config>(parameters, first + i, statistics, Held::Team::thread());
  }
}

/// The block's rows, dealt to teams of kThreads that take kRowCount at a time. Blocks go from the
/// last rows to the first: L2 still holds the scores written last, and then the probabilities that
/// the next kernel wants first.
template <class Config, int kThreads, int kRowCount>
inline void softmax_by_teams(const AttentionParameters& parameters, long long rows) {
  constexpr int kTeams = Config::kThreads / kThreads;
  constexpr int kBlockRows = Config::kThreads / kWarpSize * kSoftmaxRowsPerWarp;
  const long long blocks = (rows + kBlockRows - 1) / kBlockRows;
  const long long first = (blocks - 1 - block_index()) * kBlockRows;
#pragma unroll 1
  for (int i = RowTeam<kThreads>::index() * kRowCount; i < kBlockRows; i += kTeams * kRowCount) {
    if (first + i < rows) softmax_held<Config, kThreads, kRowCount>(parameters, first + i, rows);
  }
}

/// Softmax of a row of any length by the whole block, reading it twice. The statistics of a thread
/// are kept online; P overwrites scores that every thread has read.
template <class Config>
inline Statistics softmax_streamed(const AttentionParameters& parameters, const SoftmaxRow& row) {
  constexpr int kStep = Config::kThreads * kGroup;
  using Team = RowTeam<Config::kThreads>;
  const int first_key = Team::thread() * kGroup;
  const float scale_log2 = parameters.scale_log2;
  float scores[kGroup];
  Statistics mine;
  for (int key = first_key; key < row.keys; key += kStep) {
    load_scores<Config>(scores, parameters, row, key);
    const Statistics before = mine;
    for (float score : scores) mine.maximum = maximum(mine.maximum, score);
    mine.sum *= mine.probability(before.maximum, scale_log2);
    for (float score : scores) mine.sum += mine.probability(score, scale_log2);
  }
  Statistics statistics;
  statistics.maximum = Team::largest(mine.maximum);
  statistics.sum = Team::total(mine.sum * statistics.probability(mine.maximum, scale_log2));
  const float inverse_sum = statistics.inverse_sum();
  for (int step = 0; step < row.keys; step += kStep) {
    const int key = step + first_key;
    if (key < row.keys) load_scores<Config>(scores, parameters, row, key);
    Team::sync();
    if (key >= row.keys) continue;
    for (float& entry : scores) entry = statistics.probability(entry, scale_log2) * inverse_sum;
    store_probabilities<typename Config::Element>(row, key, scores);
  }
  return statistics;
}

/// The block's rows one after the other.
template <class Config>
inline void softmax_by_block(const AttentionParameters& parameters, long long rows) {
  constexpr int kBlockRows = Config::kThreads / kWarpSize * kSoftmaxRowsPerWarp;
  const long long first = static_cast<long long>(block_index()) * kBlockRows;
#pragma unroll 1
  for (long long flat = first; flat < first + kBlockRows && flat < rows; ++flat) {
    const SoftmaxRow row = find_row<Config>(parameters, flat);
    store_log_sum_exp<Config>(parameters, flat, softmax_streamed<Config>(parameters, row),
                              thread_index());
  }
}

template <class Config>
inline void softmax(const AttentionParameters& parameters) {
  constexpr int kWarps = Config::kThreads / kWarpSize;
  constexpr int kTeamThreads = Config::kThreads < 128 ? Config::kThreads : 128;
  constexpr int kHeld = kGroup * kGroupsHeld;  // keys for each thread of a team
  static_assert(Config::kThreads % kTeamThreads == 0 && Config::kThreads > kWarpSize);
  static_assert(Config::kSharedBytes == kWarps * sizeof(float),
                "the host's shared-memory size is not the kernel's");
  const long long rows = flat_row(parameters, parameters.batch, 0, 0);
  const int keys = parameters.seqlen_kv;
  if (keys <= kWarpSize * kHeld / 4) {
    softmax_by_teams<Config, kWarpSize, 4>(parameters, rows);
  } else if (keys <= kWarpSize * kHeld / 2) {
    softmax_by_teams<Config, kWarpSize, 2>(parameters, rows);
  } else if (keys <= kWarpSize * kHeld) {
    softmax_by_teams<Config, kWarpSize, 1>(parameters, rows);
  } else if (keys <= kTeamThreads * kHeld) {
    softmax_by_teams<Config, kTeamThreads, 1>(parameters, rows);
  } else {
    softmax_by_block<Config>(parameters, rows);
  }
}

}  // namespace heddle::unfused
