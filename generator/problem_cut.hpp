#pragma once
// The problem as one config cuts it, in the numbers that counting work and traffic takes.

#include "generator/launch_plan.hpp"

namespace heddle {

/// The problem as one config cuts it.
struct ProblemCut {
  double rows, keys;            ///< of a tile
  double depth, columns;        ///< padded and real head dim
  double heads, kv_heads;       ///< times batch
  double packs;                 ///< of heads that share tiles: as many as heads, or fewer
  double tiles;                 ///< query tiles of a head
  double head_steps;            ///< key tiles met by all query tiles of a head
  double longest_tile;          ///< key tiles met by the last query tile
  double query_rows, key_rows;  ///< of the whole problem
  double warps;
  double element_bytes;  ///< of Q, K and V
  double output_bytes;   ///< the same of O
};

ProblemCut cut_problem(const Problem& problem, const KernelConfig& config, const LaunchPlan& plan);

}  // namespace heddle
