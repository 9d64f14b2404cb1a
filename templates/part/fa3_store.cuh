#pragma once
// How a team of fa3 consumers brings its rows to global memory: from registers, or through the
// slot of their queries by TMA.

#include "instruction/fence.cuh"
#include "instruction/named_barrier.cuh"
#include "mapped_parameters.cuh"
#include "part/epilogue.cuh"
#include "part/fa3_shared.cuh"
#include "part/mask.cuh"
#include "part/softmax.cuh"
#include "part/tile_store.cuh"
#include "part/warpgroup_log_sum_exp.cuh"
#include "part/warpgroup_sanitize.cuh"
#include "part/warpgroup_store.cuh"

namespace heddle::fa3 {

/// What a thread has of a tile's rows.
template <class Config>
struct TeamRows {
  using Output = Accumulator<1, Config::kHeadDimPadded / 8>;

  Output output;
  OnlineSoftmax<1, Config::kLazyRescale> softmax;
  bool found_nonfinite;  ///< in a masked value block of the tile

  void clear() {
    output.clear();
    softmax.clear();
    found_nonfinite = false;
  }

  /// Normalises the rows; returns their log-sum-exps.
  void normalise(const AttentionParameters& parameters, float (&log_sum_exps)[2]) {
    softmax.finish();
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      log_sum_exps[row] =
          warpgroup_log_sum_exp<Config>(parameters, softmax.reference[row], softmax.sum[row]);
      const float inverse_sum = softmax.inverse_sum(row);
#pragma unroll
      for (int c = 0; c < Output::kColumnTiles; ++c) {
        output.value[0][c][2 * row] *= inverse_sum;
        output.value[0][c][2 * row + 1] *= inverse_sum;
      }
    }
  }
};

template <class Config>
class TeamStore {
  using Element = typename Config::Element;
  using Tiles = Shape<Config>;
  using Reader = TileReader<Config::kQueryStages>;

 public:
  TeamStore(SharedStorage<Config>& shared, const MappedParameters& maps, int team)
      : shared_(shared), maps_(maps), parameters_(maps.attention), team_(team) {}

  /// First row of this warp within the tile.
  int warp_row() const { return kWarpgroupRows * team_ + 16 * (warp() % 4); }

  /// Stores the rows and their log-sum-exp. What goes by TMA goes on to the next slot of `tiles`.
  void store(TeamRows<Config>& rows, const Work<Config>& work, Reader& tiles) {
    const WorkItem& item = work.item;
    const int first_query = work.first_query + warp_row();
    const int valid_rows = work.sequence.query_length - first_query;
    float log_sum_exps[2];
    rows.normalise(parameters_, log_sum_exps);
    Element* destination =
        tensor_row<Element>(parameters_.output, item.batch, item.head, first_query);
    const long long row_stride = parameters_.output.row_stride;
    if constexpr (Config::kTmaStore) {
      start(rows, work, tiles);
    } else {
      store_fragment_rows<Config>(rows.output, destination, row_stride, valid_rows);
    }
    if (rows.found_nonfinite) {
      if constexpr (Config::kTmaStore) wait_all();
      const Mask<Config> mask{work.sequence, item};
      add_nonfinite_to_rows(destination, row_stride, first_query, work.range, mask, parameters_);
    }
    if (parameters_.log_sum_exp == nullptr) return;
    const long long row = flat_row(parameters_, item.batch, item.head, first_query);
    store_rows(log_sum_exps, parameters_.log_sum_exp + row, valid_rows);
  }

  /// The slot of the tile stored last is free once it has been read.
  void finish(Reader& tiles) {
    if constexpr (Config::kTmaStore) {
      if (!is_storing_) return;
      is_storing_ = false;
      if (speaks()) store_wait_read<0>();
      tiles.release();
    }
  }

 private:
  /// Whether this thread speaks to the TMA for its team.
  bool speaks() const { return warp() % 4 == 0 && lane() == 0; }

  /// The team's rows of Q make room for those of O, which the TMA takes from there.
  void start(const TeamRows<Config>& rows, const Work<Config>& work, Reader& tiles) {
    finish(tiles);  // of a tile before one without keys
    unsigned char* tile = shared_.query[tiles.slot()];
    stage_fragment_rows<Element>(rows.output, tile, Tiles::kQueryTile, warp_row());
    fence_async_shared();
    sync_team(kFirstStoreBarrier + team_, kWarpgroupWarps * kWarpSize);
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
    if constexpr (Config::kQueryStages == 1) finish(tiles);
  }

  /// Until the rows are in global memory, for all of the team to see.
  void wait_all() {
    if (speaks()) store_wait<0>();
    sync_team(kFirstStoreBarrier + team_, kWarpgroupWarps * kWarpSize);
  }

  SharedStorage<Config>& shared_;
  const MappedParameters& maps_;
  const AttentionParameters& parameters_;
  int team_;
  bool is_storing_ = false;  ///< the TMA has a tile to read
};

}  // namespace heddle::fa3
