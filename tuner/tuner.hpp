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
#include "tuner/busy_gpu.hpp"
#include "tuner/compile_pool.hpp"
#include "tuner/config_kernels.hpp"
#include "tuner/named_problem.hpp"
#include "tuner/search.hpp"
#include "tuner/worker_runner.hpp"
#include "tuning_db/results_store.hpp"

namespace heddle {

enum class TuneStage { kCompile, kSearch, kFinal };

/// Told about progress; may be called from several threads, one call at a time.
struct TuneProgress {
  TuneStage stage = TuneStage::kCompile;
  int done = 0;
  int total = 0;
};

/// Part `index` (from 1) of `count`.
struct Shard {
  int index = 1;
  int count = 1;
};

struct TuneOptions {
  std::vector<Family> families;  ///< empty = every family
  int limit = 0;                 ///< try at most this many, best predicted first; 0 = all
  Strategy strategy = Strategy::kExhaustive;
  double budget_seconds = 0;  ///< then the best so far is measured once more, and is it; 0 = none
  CompileLimits compile;
  RunnerLimits runner;
  int samples = 20;        ///< of the final round
  std::uint64_t seed = 0;  ///< of inputs and random choices; 0 = drawn afresh
  bool warm = false;       ///< measure with inputs that stay in the L2 cache
  bool fresh = false;      ///< measure also what is known already
  /// Leave a problem as it is that an earlier run of the same command has tuned to its end.
  bool skip_finished = false;
  /// Only these candidates, and none is chosen: that is for who tunes when all parts are merged.
  Shard shard;
  std::vector<BadKind> bad;  ///< candidates made to fail, for tests
  bool only_bad = false;     ///< and no others
  WhenBusy when_busy = WhenBusy::kRefuse;
  std::string command;  ///< kept in each row's provenance
  std::function<void(const TuneProgress&)> progress;
  std::function<void(const std::string&)> note;  ///< what the user should know
  std::function<bool()> interrupted;             ///< asked often
};

struct Candidate {
  int id = 0;
  KernelConfig config;
  Prediction prediction;
  std::optional<BadKind> bad;
  std::shared_ptr<const ConfigKernels> kernels;
  std::optional<CheckRecord> check;
  std::optional<Timing> timing;
  double relative = 0;  ///< its time over the default config's (over the first's, if that failed)
  std::string failure;  ///< why it is out, where it is
  bool known = false;   ///< from the database, not of this run
};

struct TuneReport {
  NamedProblem problem;
  int legal = 0;
  int compiled = 0;
  int checked = 0;  ///< passed the check
  int measured = 0;
  int known = 0;  ///< of all: known from earlier runs
  int lost_workers = 0;
  bool predicted = false;
  bool part = false;      ///< of the candidates only (a shard): nothing is chosen
  bool earlier = false;   ///< nothing was done: an earlier run of the same command chose the winner
  bool finished = false;  ///< the search came to its end, or to that of its budget
  std::string stopped;    ///< why it did not, where neither the user nor a budget ended it
  double noise = 0;       ///< by which two copies of one kernel differed, as a fraction
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
  WorkerSetup worker;  ///< with no program: candidates run in this process
  /// Of that device; null = nobody looks whether others use it.
  Nvml* monitor = nullptr;
};

/// Tunes one problem and stores a row per candidate as soon as it is measured, predicted or failed.
/// Throws kNoLegalConfig when no candidate is legal; a problem whose candidates all fail yields a
/// report without a winner.
TuneReport tune(const TuneTarget& target, const NamedProblem& problem, const TuneOptions& options);

}  // namespace heddle
