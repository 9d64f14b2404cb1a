#pragma once
// Attention computed the plain way, to judge the other kernels by. With Accumulate = double it is
// the float64 reference; with float (and P and O rounded to Element) the fp32 baseline.
//
// One block owns kTileM query rows of one head and walks the keys three times: once for the rows'
// maxima, once for their sums, once for the output. Recomputing the scores costs two more products
// but needs neither O(N^2) memory nor a running rescale. A masked key takes part in nothing, so
// what K or V holds there has no effect.

#include "instruction/math.cuh"
#include "instruction/precise_math.cuh"
#include "instruction/thread.cuh"
#include "instruction/types.cuh"
#include "parameters.cuh"
#include "part/cut_dot.cuh"
#include "part/cut_error.cuh"
#include "part/descale.cuh"
#include "part/reduce_lanes.cuh"
#include "part/scheduler.cuh"
#include "part/sequence_info.cuh"
#include "part/value_entry.cuh"

namespace heddle::reference {

/// The block is 16 x 16 threads; thread (y, x) owns rows y, y + 16, ... and keys or columns x,
/// x + 16, ... of every tile.
constexpr int kSide = 16;
constexpr int kThreads = kSide * kSide;

template <class Config>
struct SharedStorage {
  /// Head dims are even, so an odd pitch spreads a column over all banks.
  static constexpr int kPitch = Config::kHeadDim + 1;

  typename Config::Accumulate probability[Config::kTileM][Config::kTileN + 1];
  float query[Config::kTileM][kPitch];
  float key_or_value[Config::kTileN][kPitch];
};

template <class Config>
constexpr bool is_float64() {
  return sizeof(typename Config::Accumulate) == sizeof(double);
}

/// Behind the rows' log-sum-exps.
inline double* cut_errors(const AttentionParameters& parameters) {
  return reinterpret_cast<double*>(parameters.partial_rows) +
         flat_row(parameters, parameters.batch, 0, 0);
}

/// Where this block and thread work.
struct Place {
  WorkItem work;
  SequenceInfo sequence;
  int first_row;
  int y;
  int x;
};

template <class Config>
inline Place find_place(const AttentionParameters& parameters) {
  const WorkItem work = Scheduler<Config>::item(parameters);
  return {work, SequenceInfo(parameters, work.batch), work.query_tile * Config::kTileM,
          thread_index() / kSide, thread_index() % kSide};
}

/// How many keys a row may see, hooks aside (they are the first ones).
template <class Config>
inline int visible_keys(const SequenceInfo& sequence, int row) {
  return Config::kCausal ? sequence.causal_keys(row) : sequence.key_length;
}

/// Copies rows [0, valid_rows) of `source` into shared memory; the others become zero.
template <class Config, int kRows>
inline void load_rows(float (&tile)[kRows][Config::kHeadDim + 1],
                      const typename Config::Element* source, long long row_stride,
                      int valid_rows) {
  for (int i = thread_index(); i < kRows * Config::kHeadDim; i += kThreads) {
    const int row = i / Config::kHeadDim;
    const int column = i % Config::kHeadDim;
    tile[row][column] = 0.0f;
    if (row >= valid_rows) continue;
    const auto element = source[row * row_stride + column];  // part/sanitize.cuh says why a copy
    tile[row][column] = to_float(element);
  }
}

/// Values of keys [first_key, first_key + kTileN), however they lie.
template <class Config>
inline void load_values(SharedStorage<Config>& shared, const AttentionParameters& parameters,
                        const Place& place, int first_key) {
  using Element = typename Config::Element;
  const WorkItem& work = place.work;
  if constexpr (!Config::kTransposedValues) {
    load_rows<Config, Config::kTileN>(
        shared.key_or_value,
        tensor_row<const Element>(parameters.value, work.batch, work.kv_head, first_key),
        parameters.value.row_stride, place.sequence.key_length - first_key);
  } else {
    for (int i = thread_index(); i < Config::kTileN * Config::kHeadDim; i += kThreads) {
      const int key = i % Config::kTileN;
      const int column = i / Config::kTileN;
      const bool exists = first_key + key < place.sequence.key_length;
      shared.key_or_value[key][column] =
          exists
              ? value_entry<Config>(parameters, work.batch, work.kv_head, first_key + key, column)
              : 0.0f;
    }
  }
}

/// What one thread knows of a tile: scaled scores, and which of them exist.
template <class Config>
struct ScoreTile {
  static constexpr int kRows = Config::kTileM / kSide;
  static constexpr int kKeys = Config::kTileN / kSide;
  typename Config::Accumulate score[kRows][kKeys];
  bool visible[kRows][kKeys];
};

template <class Config>
inline void compute_dots(ScoreTile<Config>& tile, const SharedStorage<Config>& shared,
                         const Place& place) {
  using Accumulate = typename Config::Accumulate;
  tile = {};
  if constexpr (Config::kScaledInputs && !is_float64<Config>()) {
    for (int j = 0; j < tile.kKeys; ++j) {
      const float* key = shared.key_or_value[place.x + j * kSide];
      for (int i = 0; i < tile.kRows; ++i) {
        tile.score[i][j] = cut_dot<Config::kHeadDim>(shared.query[place.y + i * kSide], key);
      }
    }
    return;
  }
  for (int c = 0; c < Config::kHeadDim; ++c) {
    Accumulate query[ScoreTile<Config>::kRows];
    for (int i = 0; i < tile.kRows; ++i) query[i] = shared.query[place.y + i * kSide][c];
    for (int j = 0; j < tile.kKeys; ++j) {
      const Accumulate key = shared.key_or_value[place.x + j * kSide][c];
      for (int i = 0; i < tile.kRows; ++i) tile.score[i][j] += query[i] * key;
    }
  }
}

/// What a score of these rows is multiplied by.
template <class Config>
inline typename Config::Accumulate score_scale(const AttentionParameters& parameters,
                                               const WorkItem& work, int row, int key) {
  using Accumulate = typename Config::Accumulate;
  const auto scale = static_cast<Accumulate>(parameters.scale);
  if constexpr (!Config::kScaledInputs) return scale;
  return scale *
         static_cast<Accumulate>(query_descale<Config>(parameters, work.batch, work.head, row)) *
         static_cast<Accumulate>(key_descale<Config>(parameters, work.batch, work.kv_head, key));
}

template <class Config>
inline void compute_scores(ScoreTile<Config>& tile, const SharedStorage<Config>& shared,
                           const AttentionParameters& parameters, const Place& place,
                           int first_key) {
  using Accumulate = typename Config::Accumulate;
  static_assert(sizeof(Config::score(Accumulate{}, ScorePosition{})) == sizeof(Accumulate),
                "the score hook must keep the reference's precision");
  compute_dots(tile, shared, place);
  for (int i = 0; i < tile.kRows; ++i) {
    const int row = place.first_row + place.y + i * kSide;
    if (row >= place.sequence.query_length) continue;
    const int key_end = visible_keys<Config>(place.sequence, row);
    for (int j = 0; j < tile.kKeys; ++j) {
      const int key = first_key + place.x + j * kSide;
      if (key >= key_end) continue;
      const ScorePosition position{place.work.batch, place.work.head, row, key};
      const Accumulate scale = score_scale<Config>(parameters, place.work, row, key);
      tile.score[i][j] = Config::score(tile.score[i][j] * scale, position);
      tile.visible[i][j] = Config::visible(position);
    }
  }
}

/// Calls step(tile, first_key) for every key tile that some row of the block can see.
template <class Config, class Step>
inline void walk_keys(SharedStorage<Config>& shared, const AttentionParameters& parameters,
                      const Place& place, Step step) {
  using Element = typename Config::Element;
  const int last_row = minimum(place.first_row + Config::kTileM, place.sequence.query_length) - 1;
  const int key_end = visible_keys<Config>(place.sequence, last_row);
  for (int first_key = 0; first_key < key_end; first_key += Config::kTileN) {
    sync_block();  // nobody reads the tile before any more
    load_rows<Config, Config::kTileN>(
        shared.key_or_value,
        tensor_row<const Element>(parameters.key, place.work.batch, place.work.kv_head, first_key),
        parameters.key.row_stride, place.sequence.key_length - first_key);
    sync_block();
    ScoreTile<Config> tile;
    compute_scores<Config>(tile, shared, parameters, place, first_key);
    step(tile, first_key);
  }
}

/// A row's statistics, equal in the 16 threads that share the row.
template <class Config>
struct RowStatistics {
  static constexpr int kRows = Config::kTileM / kSide;
  typename Config::Accumulate maximum[kRows];
  typename Config::Accumulate sum[kRows];
};

template <class Config>
inline RowStatistics<Config> row_statistics(SharedStorage<Config>& shared,
                                            const AttentionParameters& parameters,
                                            const Place& place) {
  using Accumulate = typename Config::Accumulate;
  RowStatistics<Config> rows;
  for (int i = 0; i < rows.kRows; ++i) rows.maximum[i] = -infinity(), rows.sum[i] = 0;

  walk_keys<Config>(shared, parameters, place, [&](const ScoreTile<Config>& tile, int) {
    for (int i = 0; i < tile.kRows; ++i) {
      for (int j = 0; j < tile.kKeys; ++j) {
        const bool larger = tile.visible[i][j] && tile.score[i][j] > rows.maximum[i];
        if (larger) rows.maximum[i] = tile.score[i][j];
      }
    }
  });
  for (int i = 0; i < rows.kRows; ++i) {
    rows.maximum[i] = reduce_lanes<kSide>(rows.maximum[i], [](Accumulate left, Accumulate right) {
      return right > left ? right : left;
    });
    // A row of -inf logits: exp(-inf - 0) is the 0 wanted, exp(-inf + inf) would be NaN.
    if (rows.maximum[i] == -infinity()) rows.maximum[i] = 0;
  }

  walk_keys<Config>(shared, parameters, place, [&](const ScoreTile<Config>& tile, int) {
    for (int i = 0; i < tile.kRows; ++i) {
      for (int j = 0; j < tile.kKeys; ++j) {
        if (tile.visible[i][j]) rows.sum[i] += precise_exp(tile.score[i][j] - rows.maximum[i]);
      }
    }
  });
  for (Accumulate& sum : rows.sum) sum = lane_sum<kSide>(sum);
  return rows;
}

/// P of one tile for the block to share; -1 marks a masked key, which must not even multiply V.
template <class Config>
inline void share_probabilities(SharedStorage<Config>& shared, const ScoreTile<Config>& tile,
                                const RowStatistics<Config>& rows, const Place& place) {
  using Accumulate = typename Config::Accumulate;
  for (int i = 0; i < tile.kRows; ++i) {
    const Accumulate inverse = rows.sum[i] == 0 ? Accumulate(0) : 1 / rows.sum[i];
    for (int j = 0; j < tile.kKeys; ++j) {
      const Accumulate unit = precise_exp(tile.score[i][j] - rows.maximum[i]);
      Accumulate p = unit * inverse;
      if constexpr (Config::kRoundProbabilities) {
        using Element = typename Config::Element;
        // 8-bit kernels round before they divide: a row's largest probability is then a constant.
        constexpr float kGain = static_cast<float>(1 << probability_shift<Config>());
        p = Config::kScaledInputs ? to_float(from_float<Element>(unit * kGain)) * (inverse / kGain)
                                  : to_float(from_float<Element>(p));
      }
      shared.probability[place.y + i * kSide][place.x + j * kSide] =
          tile.visible[i][j] ? p : Accumulate(-1);
    }
  }
}

/// O of one thread: its rows times columns x, x + 16, ...
template <class Config>
struct OutputTile {
  static constexpr int kRows = Config::kTileM / kSide;
  static constexpr int kColumns = (Config::kHeadDim + kSide - 1) / kSide;
  typename Config::Accumulate value[kRows][kColumns];
};

template <class Config>
inline void accumulate_output(OutputTile<Config>& output, const SharedStorage<Config>& shared,
                              const Place& place) {
  using Accumulate = typename Config::Accumulate;
  for (int i = 0; i < output.kRows; ++i) {
    for (int j = 0; j < Config::kTileN; ++j) {
      const Accumulate p = shared.probability[place.y + i * kSide][j];
      if (p < 0) continue;
#pragma unroll
      for (int c = 0; c < output.kColumns; ++c) {
        const int column = minimum(place.x + c * kSide, Config::kHeadDim - 1);
        output.value[i][c] += p * static_cast<Accumulate>(shared.key_or_value[j][column]);
      }
    }
  }
}

/// Of this thread's rows.
template <class Config>
using RowCuts = CutError<ScoreTile<Config>::kRows, Config::kHeadDim, kSide>;

/// Of a tile whose keys and probabilities the block shares.
template <class Config>
inline void add_cuts(RowCuts<Config>& cuts, const ScoreTile<Config>& tile,
                     const SharedStorage<Config>& shared, const Place& place,
                     const AttentionParameters& parameters, int first_key) {
  for (int i = 0; i < tile.kRows; ++i) {
    for (int j = 0; j < tile.kKeys; ++j) {
      const int row = place.y + i * kSide;
      const int key = place.x + j * kSide;
      if (!tile.visible[i][j]) continue;
      const double scale =
          score_scale<Config>(parameters, place.work, place.first_row + row, first_key + key);
      cuts.add_key(i, shared.query[row], shared.key_or_value[key], shared.probability[row][key],
                   scale);
    }
  }
}

/// float64: O and LSE as contiguous doubles where a split run would keep its partial results, and
/// of 8-bit inputs behind them how far LSE may be off. Baseline: O rounded to OutputElement and LSE
/// in fp32, as any other kernel leaves them.
template <class Config>
inline void write_row(const AttentionParameters& parameters, const Place& place, int row,
                      const typename Config::Accumulate* values,
                      typename Config::Accumulate log_sum_exp) {
  using Element = typename Config::OutputElement;
  constexpr bool kFloat64 = is_float64<Config>();
  const WorkItem& work = place.work;
  const long long flat = flat_row(parameters, work.batch, work.head, row);
  for (int column = place.x, c = 0; column < Config::kHeadDim; column += kSide, ++c) {
    if constexpr (kFloat64) {
      auto* output = reinterpret_cast<double*>(parameters.partial_output);
      output[flat * Config::kHeadDim + column] = values[c];
    } else {
      tensor_row<Element>(parameters.output, work.batch, work.head, row)[column] =
          from_float<Element>(values[c]);
    }
  }
  if (place.x != 0) return;
  if constexpr (kFloat64) {
    reinterpret_cast<double*>(parameters.partial_rows)[flat] = log_sum_exp;
  } else if (parameters.log_sum_exp != nullptr) {
    parameters.log_sum_exp[flat] = log_sum_exp;
  }
}

/// Weights sum to 1: what values have in common comes last.
template <class Config>
inline void rescale_values(OutputTile<Config>& output, const RowStatistics<Config>& rows,
                           const AttentionParameters& parameters, const WorkItem& work,
                           const Place& place) {
  using Accumulate = typename Config::Accumulate;
  if constexpr (!Config::kScaledInputs) return;
  const auto factor =
      static_cast<Accumulate>(value_descale<Config>(parameters, work.batch, work.kv_head));
  const float* means = value_mean<Config>(parameters, work.batch, work.kv_head);
  for (int i = 0; i < output.kRows; ++i) {
    for (int c = 0; c < output.kColumns; ++c) {
      const int column = place.x + c * kSide;  // all of them exist
      const bool has_mean = means != nullptr && rows.sum[i] != 0;
      output.value[i][c] *= factor;
      if (has_mean) output.value[i][c] += static_cast<Accumulate>(means[column]);
    }
  }
}

template <class Config>
inline void attention(const AttentionParameters& parameters) {
  static_assert(Config::kThreads == kThreads, "the reference runs 16 x 16 threads");
  static_assert(Config::kTileM % kSide == 0 && Config::kTileN % kSide == 0);
  static_assert(Config::kSharedBytes == sizeof(SharedStorage<Config>), "shared memory size");
  auto& shared = *reinterpret_cast<SharedStorage<Config>*>(shared_memory());
  const Place place = find_place<Config>(parameters);
  const WorkItem& work = place.work;

  load_rows<Config, Config::kTileM>(shared.query,
                                    tensor_row<const typename Config::Element>(
                                        parameters.query, work.batch, work.head, place.first_row),
                                    parameters.query.row_stride,
                                    place.sequence.query_length - place.first_row);
  const RowStatistics<Config> rows = row_statistics(shared, parameters, place);

  constexpr bool kMeasuresCuts = Config::kScaledInputs && is_float64<Config>();
  RowCuts<Config> cuts;
  OutputTile<Config> output = {};
  walk_keys<Config>(shared, parameters, place, [&](const ScoreTile<Config>& tile, int first_key) {
    share_probabilities(shared, tile, rows, place);
    sync_block();
    if constexpr (kMeasuresCuts) {
      add_cuts<Config>(cuts, tile, shared, place, parameters, first_key);
      sync_block();
    }
    load_values(shared, parameters, place, first_key);
    sync_block();
    accumulate_output(output, shared, place);
  });
  rescale_values(output, rows, parameters, work, place);

  for (int i = 0; i < output.kRows; ++i) {
    const int row = place.first_row + place.y + i * kSide;
    const double cut = kMeasuresCuts ? cuts.of_row(i) : 0.0;  // with all lanes
    if (row >= place.sequence.query_length) continue;
    const long long flat = flat_row(parameters, work.batch, work.head, row);
    const auto shift =
        static_cast<typename Config::Accumulate>(log_sum_exp_shift<Config>(parameters, flat));
    const auto log_sum_exp = rows.maximum[i] + precise_log(rows.sum[i]) + shift;
    write_row<Config>(parameters, place, row, output.value[i], log_sum_exp);
    if constexpr (kMeasuresCuts) {
      if (place.x == 0) cut_errors(parameters)[flat] = cut;
    }
  }
}

}  // namespace heddle::reference
