#pragma once
// Online softmax of rows whose keys the warps of a team split.

#include "instruction/math.cuh"
#include "part/key_split.cuh"
#include "part/reduce_lanes.cuh"
#include "part/softmax.cuh"

namespace heddle {

/// Rows' state of one step, as far as one thread needs it.
template <class Config>
struct StepRows {
  static constexpr int kRows = 2 * KeySplit<Config>::kRowTiles;
  float reference[kRows];
  float factor[kRows];  ///< what the rows' output so far is multiplied by
  float sum[kRows];     ///< of this warp's keys
};

/// Turns this warp's scores into probabilities relative to the team's row maxima.
template <class Config>
inline StepRows<Config> softmax_step(typename KeySplit<Config>::Scores& scores,
                                     TeamExchange<Config>& exchange, const float* reference,
                                     float scale_log2) {
  using Split = KeySplit<Config>;
  StepRows<Config> rows;
  float maxima[StepRows<Config>::kRows];
  row_maximum(maxima, scores);
  for (float& largest : maxima) largest *= scale_log2;
  share_rows(exchange.maximum[Split::key_warp()], maxima);
  Split::sync();
#pragma unroll
  for (int row = 0; row < StepRows<Config>::kRows; ++row) {
    const float before = reference[fragment_row(row)];
    rows.reference[row] = finite_base(team_maximum(exchange, before, fragment_row(row)));
    rows.factor[row] = rise_factor(before, rows.reference[row]);
    rows.sum[row] = 0.0f;
  }
  scores.for_each([&](int row, int, int, float& score) {
    score = fast_exp2(multiply_add(score, scale_log2, -rows.reference[row]));
    rows.sum[row] += score;
  });
#pragma unroll
  for (float& sum : rows.sum) sum = lane_sum<kRowLanes>(sum);
  share_rows(exchange.sum[Split::key_warp()], rows.sum);
  return rows;
}

/// Moves a team's rows on to their new maxima and sums: its first warp, a lane per row, once no
/// thread reads the old ones any more.
template <class Config>
inline void update_statistics(const TeamExchange<Config>& exchange, float* reference, float* sum) {
  if (KeySplit<Config>::key_warp() != 0) return;
  const float before = reference[lane()];
  const float after = team_maximum(exchange, before, lane());
  float total = sum[lane()] * rise_factor(before, after);
#pragma unroll
  for (const auto& warp_sums : exchange.sum) total += warp_sums[lane()];
  reference[lane()] = after;
  sum[lane()] = total;
}

}  // namespace heddle
