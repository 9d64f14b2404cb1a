#pragma once

#include <memory>
#include <vector>

#include "runtime/testing/inputs.hpp"
#include "tuner/problem_buffers.hpp"

namespace heddle {

/// Several copies of a problem's tensors with random contents, so many that together they exceed
/// the L2 cache: a timed launch never finds its inputs there because the last one left them.
class InputSets {
 public:
  /// How many that takes for this problem on this device.
  static int wanted(const DeviceLimits& limits, const Problem& problem);

  /// Throws kOutOfMemory when not even one set fits. `warm`: one set, which may stay in the cache.
  InputSets(const Device& device, const Problem& problem, std::size_t workspace_bytes,
            std::uint64_t seed, const InputOptions& options = {}, bool warm = false);
  std::vector<AttentionParameters> parameters(const KernelConfig& config,
                                              const LaunchPlan& plan) const;
  int count() const { return static_cast<int>(sets_.size()); }

 private:
  Problem problem_;
  std::vector<std::unique_ptr<ProblemBuffers>> sets_;
};

}  // namespace heddle
