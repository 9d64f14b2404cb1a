#pragma once
// Key blocks that rows of a warp have left out, made up for at the end of the tile: scores and
// values come from global memory once more, through mma.sync, whose fragments are wgmma's, lane for
// lane. Slow, and rarely run.

#include "instruction/memory.cuh"
#include "instruction/opaque.cuh"
#include "instruction/thread.cuh"
#include "instruction/types.cuh"
#include "part/checked_softmax.cuh"
#include "part/fa3_shared.cuh"
#include "part/fragment.cuh"
#include "part/mask.cuh"
#include "part/reduce_lanes.cuh"
#include "part/sequence_info.cuh"
#include "warpgroup_layout.cuh"

namespace heddle::fa3 {

/// 16 query rows of a warp, from `first_query` on, and their tile. A row leaves out a block only
/// after some later ones of which it saw keys: all keys of the block exist, and but for a hook the
/// row sees them all.
template <class Config>
class LostBlocks {
 public:
  using Element = typename Config::Element;
  using Softmax = CheckedSoftmax<1>;
  using Output = Accumulator<1, Config::kHeadDim / 8>;

  /// The compiler must not know what it has computed of these before: kept until here it would
  /// cost registers all through the main loop.
  LostBlocks(const AttentionParameters& parameters, const Work<Config>& work, int first_query)
      : parameters_(parameters),
        work_(work),
        first_query_(static_cast<int>(opaque(first_query))),
        lane_(static_cast<int>(opaque(lane()))) {}

  /// A row has left out one block at most, and takes part in the round of that block alone. (All
  /// lanes know the same block; the vote tells ptxas so, which otherwise spills.)
  void make_up(Softmax& softmax, Output& output) const {
#pragma unroll 1
    for (int block = next_block(softmax); warp_any(block >= 0); block = next_block(softmax)) {
      bool takes[2];
#pragma unroll
      for (int row = 0; row < 2; ++row) {
        takes[row] = softmax.note[row] == block;
        if (!takes[row]) continue;
        softmax.note[row] = Softmax::kMoved;
        softmax.limit[row] = softmax.reference[row];
      }
#pragma unroll 1
      for (int key = 0; key < Config::kTileN; key += kKeys) {
        add_keys(softmax, output, takes, block * Config::kTileN + key);
      }
    }
  }

 private:
  static constexpr int kKeys = 16;  ///< at a time
  using Scores = Accumulator<1, kKeys / 8>;

  /// The last of the blocks left out by rows of the warp; negative where there is none.
  static int next_block(const Softmax& softmax) {
    const int block = maximum(softmax.note[0], softmax.note[1]);
    const auto later = [](unsigned left, unsigned right) {
      return static_cast<unsigned>(maximum(static_cast<int>(left), static_cast<int>(right)));
    };
    return static_cast<int>(reduce_lanes<kWarpSize, 1>(static_cast<unsigned>(block), later));
  }

  /// The softmax of 16 keys for the rows that take part, and their values.
  void add_keys(Softmax& softmax, Output& output, const bool (&takes)[2], int first_key) const {
    const Mask<Config> mask{work_.sequence, work_.item};
    Scores scores;
    multiply_query_key(scores, first_key);
    mask.apply_score_hook(scores, parameters_.scale, first_query_, first_key);
    if constexpr (Config::kMaskHook) mask.apply(scores, first_query_, first_key);
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      if (!takes[row]) scores.for_row(row, [](float& score) { score = -infinity(); });
    }
    softmax.follow(scores, output, parameters_.scale_log2);
    softmax.exponentiate(scores, parameters_.scale_log2);
    add_values(output, takes, to_operand_a<Element>(scores).value[0][0], first_key);
  }

  /// In wgmma's chains. Queries beyond the last are copies of it.
  void multiply_query_key(Scores& scores, int first_key) const {
    constexpr int kChainDepth = 16 * wgmma_chain_steps(Config::kHeadDimPadded);
    const WorkItem& item = work_.item;
    const Element* queries[2];
    const Element* keys[Scores::kColumnTiles];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int query = minimum(first_query_ + 8 * i + lane_ / 4, work_.sequence.query_length - 1);
      queries[i] = tensor_row<const Element>(parameters_.query, item.batch, item.head, query);
      keys[i] = tensor_row<const Element>(parameters_.key, item.batch, item.kv_head,
                                          first_key + 8 * i + lane_ / 4);
    }
    scores.clear();
#pragma unroll 1
    for (int first = 0; first < Config::kHeadDimPadded; first += kChainDepth) {
      const int end = minimum(first + kChainDepth, Config::kHeadDimPadded);
      Scores chain;
      chain.clear();
#pragma unroll 1
      for (int depth = first; depth < end; depth += 16) {
        const int column = depth + 2 * (lane_ % 4);
        const unsigned a[4] = {columns(queries[0], column), columns(queries[1], column),
                               columns(queries[0], column + 8), columns(queries[1], column + 8)};
#pragma unroll
        for (int c = 0; c < Scores::kColumnTiles; ++c) {
          const unsigned b[2] = {columns(keys[c], column), columns(keys[c], column + 8)};
          mma_m16n8k16(chain.value[0][c], a, b, Element{});
        }
      }
      scores.add(chain);
    }
  }

  /// Two columns of a row; zeros beyond head_dim.
  static unsigned columns(const Element* row, int column) {
    return load_or_zero<4>(row + column, column < Config::kHeadDim).value;
  }

  /// Values that are not finite count as 0: a row that sees one has met it already, or gets it
  /// added once it is stored (part/warpgroup_sanitize.cuh).
  void add_values(Output& output, const bool (&takes)[2], const unsigned (&probability)[4],
                  int first_key) const {
    const int key = first_key + 2 * (lane_ % 4);
#pragma unroll 1
    for (int c = 0; c < Output::kColumnTiles; ++c) {
      const int column = 8 * c + lane_ / 4;
      const unsigned b[2] = {two_values(key, column), two_values(key + 8, column)};
      const float(&sums)[4] = output.value[0][0];
      float added[4] = {sums[0], sums[1], sums[2], sums[3]};
      mma_m16n8k16(added, probability, b, Element{});
#pragma unroll
      for (int i = 0; i < 4; ++i) added[i] = takes[i / 2] ? added[i] : sums[i];
      rotate(output, added);
    }
  }

  /// Moves every column tile to the place before it; the first makes room for `last`. Registers
  /// have no index that varies: a loop over columns takes turns at the first place instead.
  /// (Unrolled, it was a third of the kernel's time to compile.)
  static void rotate(Output& output, const float (&last)[4]) {
    constexpr int kLast = Output::kColumnTiles - 1;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int c = 0; c < kLast; ++c) output.value[0][c][i] = output.value[0][c + 1][i];
      output.value[0][kLast][i] = last[i];
    }
  }

  /// Of `key` and the next.
  unsigned two_values(int key, int column) const {
    return value_bits(key, column) | value_bits(key + 1, column) << 16;
  }
  unsigned value_bits(int key, int column) const {
    if (column >= Config::kHeadDim) return 0;
    const Element element = tensor_row<const Element>(parameters_.value, work_.item.batch,
                                                      work_.item.kv_head, key)[column];
    return is_finite(element) ? element.bits : 0;
  }

  const AttentionParameters& parameters_;
  const Work<Config>& work_;
  int first_query_;
  int lane_;
};

}  // namespace heddle::fa3
