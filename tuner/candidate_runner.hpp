#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/measure.hpp"
#include "tuner/config_kernels.hpp"

namespace heddle {

/// A compiled candidate under a number of the tuner's.
struct Contestant {
  int id = 0;
  KernelConfig config;
  std::shared_ptr<const ConfigKernels> kernels;
};

struct CheckOutcome {
  std::optional<CheckRecord> record;  ///< none where it did not come to a comparison
  std::string failure;                ///< empty = passed
};

struct RaceRound {
  std::vector<int> ids;  ///< that passed check()
  int warm_ups = 2;
  int samples = 3;
};

struct RaceOutcome {
  std::map<int, Timing> timings;
  std::map<int, std::string> failures;  ///< of those that have no timing
  std::string broken;  ///< why there are no timings, where nobody in particular is to blame
};

/// What candidates are given to work on.
struct RunnerInputs {
  std::uint64_t seed = 0;
  bool warm = false;  ///< when measured, the same inputs every time
};

/// Where candidates are checked and measured: in this process or in one of its own. One problem,
/// one thread.
class CandidateRunner {
 public:
  virtual ~CandidateRunner() = default;
  /// Loads it and compares its results. One that passes stays loaded until release(). Throws
  /// kOutOfMemory where the problem itself is too large for the device.
  virtual CheckOutcome check(const Contestant& contestant) = 0;
  /// Times them interleaved.
  virtual RaceOutcome race(const RaceRound& round) = 0;
  virtual void release(int id) = 0;
  /// False after a candidate has taken the device's context along: nothing can run here any more.
  virtual bool usable() const = 0;
};

}  // namespace heddle
