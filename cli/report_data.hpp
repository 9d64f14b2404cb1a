#pragma once
// What the report page shows, out of rows: pure.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuning_db/records.hpp"

namespace heddle {

/// A config of a tuning as it was measured last: what a lucky first look promised does not count.
struct ConfigResult {
  double found_seconds = 0;  ///< when it was measured first
  Measurement row;
};

/// One run of the tuner on one problem.
struct TuningView {
  Problem problem;
  DeviceClass device;
  std::string when;
  std::vector<Measurement> rows;      ///< in the order they were found
  std::vector<ConfigResult> results;  ///< of those measured, in the order they were found
  std::optional<Measurement> winner;  ///< what it chose, else the best so far
  std::optional<Measurement> base;    ///< the default config, as measured last
  bool finished = false;
  double noise = 0;  ///< 0 = unknown

  /// Default over winner; 0 = unknown.
  double speedup() const;
  /// Whether that is more than two copies of one kernel differ by.
  bool gain_is_told() const { return noise > 0 && speedup() > 1 + noise; }
  struct Step {
    double seconds = 0;
    double relative = 0;
  };
  /// When something better was found, and how good it was over the default.
  std::vector<Step> convergence() const;
};

/// Newest first. Rows of no tuning (older ones) are in none.
std::vector<TuningView> tunings_of(const std::vector<Measurement>& rows);

/// "wrong result", "timed out", "compile time-out", …: failures by what they have in common.
struct FailureKind {
  int count = 0;
  Measurement example;
};
std::map<std::string, FailureKind> failures_by_reason(const std::vector<Measurement>& rows);

/// "bf16 d128 causal, batch 1, 32/8 heads, 4096 x 4096"; what else is not neutral follows by name.
std::string problem_title(const Problem& problem);

}  // namespace heddle
