#pragma once
// The ablation of the FlashAttention-3 paper: the same kernel with one part of its pipeline off.

#include <string>
#include <vector>

#include "generator/kernel_config.hpp"
#include "generator/problem.hpp"

namespace heddle {

/// What is off.
enum class Ablation { kNothing, kPingPong, kOverlap, kWarpSpecialisation, kTurnsAndSpecialisation };

struct AblationKernel {
  Ablation ablation;
  std::string tile;  ///< of which base config it is one; the same for all ablations of it
  KernelConfig config;
};

/// The paper's problem.
Problem pipeline_problem();
/// Every ablation of a few tiles. Each differs from its tile's kNothing in what is off alone; all
/// have the exact running maximum, as the paper's kernels do.
std::vector<AblationKernel> pipeline_kernels();

}  // namespace heddle
