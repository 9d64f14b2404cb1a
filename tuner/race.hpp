#pragma once

#include <memory>
#include <vector>

#include "runtime/testing/inputs.hpp"
#include "tuner/problem_buffers.hpp"
#include "tuner/tuner.hpp"

namespace heddle {

/// A config loaded on the device, with what one launch on each input set needs.
struct Racer {
  Candidate* candidate = nullptr;
  bool keep = false;  ///< never dropped for being slow (the default config)
  std::unique_ptr<LoadedConfig> kernels;
  LaunchPlan plan;
  std::vector<AttentionParameters> parameters;  ///< one per input set
};

/// Several copies of a problem's tensors with random contents, so many that together they exceed
/// the L2 cache: a timed launch never finds its inputs there because the last one left them.
class InputSets {
 public:
  /// Throws kOutOfMemory when not even one set fits.
  InputSets(const Device& device, const Problem& problem, std::size_t workspace_bytes,
            std::uint64_t seed, const InputOptions& options = {});
  std::vector<AttentionParameters> parameters(const KernelConfig& config,
                                              const LaunchPlan& plan) const;
  int count() const { return static_cast<int>(sets_.size()); }

 private:
  Problem problem_;
  std::vector<std::unique_ptr<ProblemBuffers>> sets_;
};

/// Times the racers interleaved, in rounds of growing length; after each round those clearly behind
/// the best leave. Each racer's candidate ends with the timing of its last round.
void race(Meter& meter, std::vector<Racer>& racers, const TuneOptions& options);

}  // namespace heddle
