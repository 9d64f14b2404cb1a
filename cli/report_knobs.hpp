#pragma once
// What each knob is worth, out of the tunings of a report: pure.

#include <string>
#include <utility>
#include <vector>

#include "cli/report_data.hpp"

namespace heddle {

/// Of one knob in one tuning: the best that each of its values came to, over the best of all.
struct KnobEffect {
  std::string knob;
  std::vector<std::pair<std::string, double>> values;
  double span() const;  ///< how much the worst value costs, as a factor
};
/// Knobs with more than one value among what was measured, the most telling first.
std::vector<KnobEffect> knob_effects(const TuningView& tuning);

/// One value of a knob over several tunings, those that tried others beside it.
struct KnobValue {
  std::string knob;
  std::string value;
  int tunings = 0;
  int wins = 0;          ///< of those, how often the winner has it
  double mean_cost = 1;  ///< geometric mean of the best with it, over the best of all
  double worst_cost = 1;
};
/// In the order of the knobs and their values.
std::vector<KnobValue> knob_summary(const std::vector<const TuningView*>& tunings);

}  // namespace heddle
