#pragma once
// How a team of fa3 consumers brings its rows to global memory: from registers, or through the
// slot of their queries by TMA.

#include "instruction/fence.cuh"
#include "instruction/named_barrier.cuh"
#include "mapped_parameters.cuh"
#include "part/checked_softmax.cuh"
#include "part/epilogue.cuh"
#include "part/exact_rows.cuh"
#include "part/fa3_shared.cuh"
#include "part/mask.cuh"
#include "part/team_loader.cuh"
#include "part/tile_store.cuh"
#include "part/warpgroup_log_sum_exp.cuh"
#include "part/warpgroup_sanitize.cuh"
#include "part/warpgroup_store.cuh"

namespace heddle::fa3 {

/// What a thread has of a tile's rows.
template <class Config>
struct TeamRows {
  using Output = Accumulator<1, Config::kHeadDim / 8>;

  Output output;
  typename WarpSoftmax<Config>::Type softmax;
  bool found_nonfinite;  ///< in a masked value block of the tile

  void clear() {
    output.clear();
    softmax.clear();
    found_nonfinite = false;
  }

  void normalise(const AttentionParameters& parameters, const WorkItem& item) {
    softmax.finish();
    const float descale = value_descale<Config>(parameters, item.batch, item.kv_head);
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      const float factor = softmax.inverse_sum(row) * descale;
      output.for_row(row, [&](float& entry) { entry *= factor; });
    }
    add_mean(value_mean<Config>(parameters, item.batch, item.kv_head));
  }

 private:
  /// Weights sum to 1, so what was taken off all values is added once; but not where a row saw
  /// none.
  void add_mean(const float* means) {
    if (means == nullptr) return;
#pragma unroll
    for (int i = 0; i < 2 * Output::kColumnTiles; ++i) {
      const float mean = means[8 * (i / 2) + 2 * (lane() % 4) + i % 2];
#pragma unroll
      for (int row = 0; row < 2; ++row) {
        if (softmax.sum[row] != 0.0f) output.value[0][i / 2][2 * row + i % 2] += mean;
      }
    }
  }
};

template <class Config>
class TeamStore {
  using Element = typename Config::OutputElement;
  using Tiles = Shape<Config>;
  using Reader = TileReader<Config::kQueryStages>;

 public:
  TeamStore(SharedStorage<Config>& shared, const MappedParameters& maps, int team)
      : shared_(shared), maps_(maps), parameters_(maps.attention), team_(team) {}

  /// First row of this warp within the tile.
  int warp_row() const { return kWarpgroupRows * team_ + 16 * (warp() % 4); }

  /// Stores the rows and what they weigh. Rows that go by TMA go on to the next slot of `tiles`.
  void store(TeamRows<Config>& rows, const Work<Config>& work, Reader& tiles,
             TeamLoader<Config>& loader) {
    rows.normalise(parameters_, work.item);
    if constexpr (Config::kTmaStore) {
      start(rows, work, tiles, loader);
    } else {
      store_rows(rows.output, work);
    }
    store_weights(rows.softmax, work);
    if constexpr (!Config::kTmaStore) redo_large_rows(rows, work, nullptr);
    if (rows.found_nonfinite) add_nonfinite(work);
    if constexpr (Config::kPersistent) meet();
  }

  /// Until the rows are in global memory, for all of the team to see.
  void wait_all() {
    if (speaks()) store_wait<0>();
    meet();
  }

  /// The slot of the tile stored last is free once it has been read.
  void finish(Reader& tiles, TeamLoader<Config>& loader) {
    if constexpr (Config::kTmaStore) {
      if (!is_storing_) return;
      is_storing_ = false;
      if (speaks()) store_wait_read<0>();
      tiles.release();
      loader.queries_released();
    }
  }

 private:
  using Softmax = typename WarpSoftmax<Config>::Type;

  /// A row of O, or of the partial results of a split.
  auto stored_row(const Work<Config>& work, const RowPlace& place) const {
    if constexpr (Config::kSplitKv) {
      return parameters_.partial_output + row_index(work, place) * Config::kHeadDim;
    } else {
      return tensor_row<Element>(parameters_.output, work.item.batch, place.head, place.query);
    }
  }

  /// Among all rows, or all that splits leave of them.
  long long row_index(const Work<Config>& work, const RowPlace& place) const {
    const WorkItem& item = work.item;
    if constexpr (Config::kSplitKv) {
      return partial_row(parameters_, item.split, item.batch, place.head, place.query);
    } else {
      return flat_row(parameters_, item.batch, place.head, place.query);
    }
  }

  /// Straight from registers.
  void store_rows(const typename TeamRows<Config>::Output& output, const Work<Config>& work) const {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      const RowPlace place = work.place(parameters_, warp_row() + fragment_row(row));
      if constexpr (Config::kSplitKv) {
        if (place.exists) store_partial_row<Config>(output, row, stored_row(work, place));
      } else {
        store_fragment_row<Config>(output, row, stored_row(work, place), place.exists);
      }
    }
  }

  /// Of the four lanes that share two rows, two store what one of them weighs, at the same time.
  void store_weights(const Softmax& softmax, const Work<Config>& work) const {
    const int row = lane() % 4;
    const RowPlace place = work.place(parameters_, warp_row() + fragment_row(row % 2));
    const float base = row == 0 ? softmax.reference[0] : softmax.reference[1];
    const float sum = row == 0 ? softmax.sum[0] : softmax.sum[1];
    if (row < 2 && place.exists && !is_large_base(base)) store_weight(base, sum, work, place);
  }

  /// A row's log-sum-exp, or what it is combined by.
  void store_weight(float base, float shifted_sum, const Work<Config>& work,
                    const RowPlace& place) const {
    constexpr float kUnit = 1.0f / static_cast<float>(1 << probability_shift<Config>());
    const float sum = shifted_sum * kUnit;
    if constexpr (Config::kSplitKv) {
      parameters_.partial_rows[row_index(work, place)] = {base, 0.0f, sum};
    } else if (parameters_.log_sum_exp != nullptr) {
      const long long at = row_index(work, place);
      parameters_.log_sum_exp[at] = warpgroup_log_sum_exp<Config>(parameters_, {base, 0.0f}, sum) +
                                    log_sum_exp_shift<Config>(parameters_, at);
    }
  }

  /// part/exact_rows.cuh's, for rows that are stored, or staged in `tile` for the TMA.
  void redo_large_rows(const TeamRows<Config>& rows, const Work<Config>& work,
                       unsigned char* tile) const {
    for_each_large_row(rows.softmax.reference, [&](int row) {
      const int tile_row = warp_row() + row;
      const RowPlace place = work.place(parameters_, tile_row);
      if (!place.exists) return;
      const Mask<Config> mask{work.sequence, work.item};
      const ExactRow<Config> exact(parameters_, mask, work.range, place.query,
                                   place.head - work.item.head);
      if constexpr (Config::kTmaStore) {
        exact.store([&](int column, float entry) {
          stage_entry(tile, Tiles::kQueryTile, tile_row, column, from_float<Element>(entry));
        });
      } else {
        exact.store();
      }
      exact.store_weight();
    });
  }

  void add_nonfinite(const Work<Config>& work) {
    if constexpr (Config::kTmaStore) wait_all();
    const Mask<Config> mask{work.sequence, work.item};
    add_nonfinite_to_rows([&](int row) { return work.place(parameters_, warp_row() + row); },
                          [&](const RowPlace& place) { return stored_row(work, place); },
                          work.range, mask, parameters_);
  }

  /// Whether this thread speaks to the TMA for its team.
  bool speaks() const {
    return warp() % 4 == 0 && lane() == 0;
  }

  /// The team's rows of Q make room for those of O, which the TMA takes from there.
  void start(const TeamRows<Config>& rows, const Work<Config>& work, Reader& tiles,
             TeamLoader<Config>& loader) {
    finish(tiles, loader);  // of a tile before one without keys
    unsigned char* tile = shared_.query[tiles.slot()];
    stage_fragment_rows<Element>(rows.output, tile, Tiles::kQueryTile, warp_row());
    redo_large_rows(rows, work, tile);
    fence_async_shared();
    meet();
    const int first_query = work.first_query + kWarpgroupRows * team_;
    if (speaks() && first_query < work.sequence.query_length) {
      const int block_bytes = Tiles::kQueryTile.block_bytes();
#pragma unroll
      for (int c = 0; c < Tiles::kColumnBlocks; ++c) {
        store_tile(maps_.output, {kBoxColumns * c, first_query, work.item.head, work.item.batch},
                   tile + c * block_bytes + 128 * kWarpgroupRows * team_);
      }
      store_commit();
    }
    tiles.advance();
    is_storing_ = true;
    // With one slot the next tile's queries wait for this one's.
    if constexpr (Config::kQueryStages == 1) finish(tiles, loader);
  }

  /// All of the team. After a tile's branches by row ptxas only sees from such a barrier that the
  /// lanes of the next tile run as one; else it keeps descriptors and the places of rings out of
  /// uniform registers, and moves them there before each product: up to 112 of 670 instructions.
  void meet() const {
    sync_team(kFirstStoreBarrier + team_, kWarpgroupWarps * kWarpSize);
  }

  SharedStorage<Config>& shared_;
  const MappedParameters& maps_;
  const AttentionParameters& parameters_;
  int team_;
  bool is_storing_ = false;  ///< the TMA has a tile to read
};

}  // namespace heddle::fa3
