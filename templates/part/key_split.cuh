#pragma once
// Warps that split the keys of a tile, and what that makes them exchange: each computes scores,
// probabilities and a product P V of its own keys alone, so row maxima, row sums and partial
// outputs meet in shared memory at every step. (FlashAttention-2 gives each warp rows instead, and
// this file has no counterpart there.)

#include "instruction/math.cuh"
#include "instruction/memory.cuh"
#include "instruction/thread.cuh"
#include "layout.cuh"
#include "part/fragment.cuh"

namespace heddle {

/// Teams of kKeyWarps warps: the warps of a team split every key tile; a team has query rows of its
/// own and takes them kStepRows at a time.
template <class Config>
struct KeySplit {
  static constexpr int kStepRows = kFa1StepRows;
  static constexpr int kRowTiles = kStepRows / 16;
  static constexpr int kKeyWarps = fa1_key_warps(Config::kWarps);
  static constexpr int kTeams = Config::kWarps / kKeyWarps;
  static constexpr int kTeamRows = Config::kTileM / kTeams;
  static constexpr int kSteps = kTeamRows / kStepRows;
  static constexpr int kWarpKeys = Config::kTileN / kKeyWarps;
  /// A round of the exchange moves one 8-wide column tile of the output to each warp.
  static constexpr int kColumnTiles = Config::kHeadDimPadded / 8;
  static constexpr int kRounds = (kColumnTiles + kKeyWarps - 1) / kKeyWarps;

  static_assert(kKeyWarps % 2 == 0 && kTeams * kKeyWarps == Config::kWarps,
                "2 warps, or a multiple of 4");
  static_assert(kSteps * kStepRows * kTeams == Config::kTileM, "a step takes 32 query rows");
  static_assert(kWarpKeys % 16 == 0, "a warp takes whole blocks of 16 keys");

  using Scores = Accumulator<kRowTiles, kWarpKeys / 8>;
  using Probabilities = OperandA<kRowTiles, kWarpKeys / 16>;
  using Partial = Accumulator<kRowTiles, kKeyWarps>;
  /// What a warp owns of its team's output: column tile kKeyWarps * round + key_warp of each row.
  using Output = Accumulator<kRowTiles * kSteps, kRounds>;

  /// How many warps' parts are read at once. A large output and the mask leave no registers for
  /// more than one (with all at once, ptxas spills 20 to 56 bytes).
  static constexpr int kOutputRegisters = 4 * kRowTiles * kSteps * kRounds;
  static constexpr int kReadAhead = Config::kCausal && kOutputRegisters > 64 ? 1 : kKeyWarps;

  static int team() { return warp() / kKeyWarps; }
  static int key_warp() { return warp() % kKeyWarps; }
  static void sync() { sync_team(1 + team(), kKeyWarps * kWarpSize); }

  /// First column of what this warp owns in a round; not below kHeadDimPadded if nothing.
  static int owned_column(int round) { return 8 * (kKeyWarps * round + key_warp()); }
};

/// Where the warps of one team meet.
template <class Config>
struct TeamExchange {
  using Split = KeySplit<Config>;
  float maximum[Split::kKeyWarps][Split::kStepRows];
  float sum[Split::kKeyWarps][Split::kStepRows];
  /// Two rounds: one is written while the slower warps still read the other.
  Bytes<16> partial[kFa1Exchanges][Split::kKeyWarps][Split::kKeyWarps][Split::kRowTiles][kWarpSize];
};

/// One value per row from each warp; the first of the four lanes that share a row writes it.
template <int kThreadRows>
inline void share_rows(float* warp_rows, const float (&values)[kThreadRows]) {
  if (lane() % 4 != 0) return;
#pragma unroll
  for (int row = 0; row < kThreadRows; ++row) warp_rows[fragment_row(row)] = values[row];
}

/// The maximum of a row over what it was before and the team's new scores.
template <class Config>
inline float team_maximum(const TeamExchange<Config>& exchange, float before, int row) {
#pragma unroll
  for (int from = 0; from < KeySplit<Config>::kKeyWarps; ++from) {
    before = maximum(before, exchange.maximum[from][row]);
  }
  return before;
}

/// Hands the column tiles of `partial` to the warps that own them and adds what arrives from the
/// team to `owned`, always in the same order. One barrier: the next round uses the other place, and
/// the round after that comes behind the next round's barrier.
template <class Config>
inline void exchange_partial(TeamExchange<Config>& exchange,
                             const typename KeySplit<Config>::Partial& partial, int round,
                             float (&owned)[KeySplit<Config>::kRowTiles][4]) {
  using Split = KeySplit<Config>;
  const int self = Split::key_warp();
  auto& place = exchange.partial[round % kFa1Exchanges];
#pragma unroll
  for (int r = 0; r < Split::kRowTiles; ++r) {
#pragma unroll
    for (int to = 0; to < Split::kKeyWarps; ++to) {
      const float(&part)[4] = partial.value[r][to];
      if (to == self) {
#pragma unroll
        for (int i = 0; i < 4; ++i) owned[r][i] += part[i];
      } else {
        store<16>(&place[self][to][r][lane()],
                  Bytes<16>{{__float_as_uint(part[0]), __float_as_uint(part[1]),
                             __float_as_uint(part[2]), __float_as_uint(part[3])}});
      }
    }
  }
  Split::sync();
#pragma unroll Split::kReadAhead
  for (int other = 1; other < Split::kKeyWarps; ++other) {
    const int from = (self + other) % Split::kKeyWarps;
#pragma unroll
    for (int r = 0; r < Split::kRowTiles; ++r) {
      const Bytes<16> part = load<16>(&place[from][self][r][lane()]);
#pragma unroll
      for (int i = 0; i < 4; ++i) owned[r][i] += __uint_as_float(part.value[i]);
    }
  }
}

}  // namespace heddle
