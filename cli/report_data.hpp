#pragma once
// What the report page shows, out of rows: pure.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuning_db/records.hpp"

namespace heddle {

/// One run of the tuner on one problem.
struct TuningView {
  Problem problem;
  DeviceClass device;
  std::string when;
  std::vector<Measurement> rows;      ///< in the order they were found
  std::optional<Measurement> winner;  ///< what it chose, else the best so far
  std::optional<Measurement> base;    ///< the default config, as measured last
  bool finished = false;
  double noise = 0;

  /// Default over winner; 0 = unknown.
  double speedup() const;
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
std::map<std::string, int> failures_by_reason(const std::vector<Measurement>& rows);

/// Of one knob in one tuning: the best that each of its values came to, over the best of all.
struct KnobEffect {
  std::string knob;
  std::vector<std::pair<std::string, double>> values;
  double span() const;  ///< how much the worst value costs, as a factor
};
/// Knobs with more than one value among what was measured, the most telling first.
std::vector<KnobEffect> knob_effects(const TuningView& tuning);

/// "bf16 d128 causal, 1x32/8 heads, 4096 x 4096".
std::string problem_title(const Problem& problem);

}  // namespace heddle
