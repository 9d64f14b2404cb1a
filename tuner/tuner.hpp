#pragma once
// enumerate -> rank -> compile -> check -> measure -> store, for one problem at a time. Without a
// device it stops after compiling and ranks by predicted cost.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "generator/candidates.hpp"
#include "runtime/compiler.hpp"
#include "runtime/device.hpp"
#include "runtime/measure.hpp"
#include "tuner/config_kernels.hpp"
#include "tuner/named_problem.hpp"
#include "tuning_db/results_store.hpp"

namespace heddle {

enum class TuneStage { kCompile, kCheck, kMeasure };

/// Told about progress; may be called from several threads, one call at a time.
struct TuneProgress {
  TuneStage stage = TuneStage::kCompile;
  int done = 0;
  int total = 0;
};

struct TuneOptions {
  std::vector<Family> families;  ///< empty = every family
  int limit = 0;                 ///< compile at most this many, best predicted first; 0 = all
  int compile_threads = 0;       ///< 0 = one per core
  int samples = 20;              ///< of the final round
  std::uint64_t seed = 0;        ///< 0 = drawn afresh
  std::string command;           ///< kept in each row's provenance
  std::function<void(const TuneProgress&)> progress;
  std::function<bool()> interrupted;  ///< asked between candidates
};

struct Candidate {
  KernelConfig config;
  Prediction prediction;
  std::optional<ConfigKernels> kernels;
  std::optional<CheckRecord> check;
  std::optional<Timing> timing;
  std::string failure;  ///< why it is out, where it is
};

struct TuneReport {
  NamedProblem problem;
  int legal = 0;
  int compiled = 0;
  int checked = 0;  ///< passed the check
  int measured = 0;
  bool predicted = false;
  std::optional<Candidate> winner;
  std::optional<Candidate> baseline;  ///< the default config, measured beside the others
  std::vector<std::string> failures;  ///< distinct reasons with counts
};

/// Where a tuner works. `device` null = predict only, for `limits`.
struct TuneTarget {
  Compiler& compiler;
  ResultsStore& store;
  DeviceLimits limits;
  DeviceClass device_class;
  const Device* device = nullptr;
};

/// Tunes one problem and stores a row per candidate that was measured, predicted or failed. Throws
/// kNoLegalConfig when no candidate is legal; a problem whose candidates all fail yields a report
/// without a winner.
TuneReport tune(const TuneTarget& target, const NamedProblem& problem, const TuneOptions& options);

}  // namespace heddle
