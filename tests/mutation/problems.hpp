#pragma once
// The small problems that a mutant has to survive: every template header and branch of the families
// is reached by some.

#include <optional>
#include <string>
#include <vector>

#include "generator/kernel_config.hpp"
#include "runtime/testing/reference.hpp"

namespace heddle::mutation {

/// kLargeScore makes logits large of whatever query, even of a row that does not exist.
enum class Hook { kNone, kScore, kLargeScore, kMask };

struct SmallProblem {
  std::string name;
  KernelConfig config;
  Problem problem;
  HostTensors tensors;
  /// The same without its odd values; rows that the reference gives alike keep their bits.
  std::optional<HostTensors> clean;
  /// The kernels are emitted for the full mask and given a score hook or a mask hook that hides
  /// what a causal mask would.
  Hook hook = Hook::kNone;
  /// A config whose kernels give the same bits; of a problem without a hook.
  std::optional<KernelConfig> alike;
  int multiprocessors = 0;  ///< of the device; 0 = as many as it has
  /// Heads of fa3 are grouped as if L2 kept 16 kB, so that small problems have several groups.
  bool small_cache = false;
};

/// Of each family the cheap ones that catch most come first.
std::vector<SmallProblem> small_problems();

}  // namespace heddle::mutation
