#pragma once
// Searches again through what was measured once: no device, no compiler. The data are rows as
// `heddle db export --all` writes them after an exhaustive tuning.

#include <vector>

#include "tuner/search.hpp"
#include "tuning_db/records.hpp"

namespace heddle {

/// One problem on one device with all that was measured for it.
struct Recording {
  Problem problem;
  DeviceClass device;
  struct Entry {
    KernelConfig config;
    double predicted_seconds = 0;
    std::vector<double>
        samples;      ///< seconds, or one figure where no samples were kept; none = failed
    double cost = 0;  ///< median of the samples; infinity for a failure
  };
  std::vector<Entry> entries;  ///< cheapest predicted first
  double best_cost() const;
};

/// The device's limits are those of its architecture with its own figures. Of several rows for one
/// config that with the most samples counts.
std::vector<Recording> recordings_of(const std::vector<Measurement>& rows);

struct Replayed {
  std::size_t tried = 0;
  double regret = 0;  ///< cost of what was chosen over the best there is, minus 1
};
/// What a strategy would have found: each trial is told one drawn sample in place of a measurement.
Replayed replay(const Recording& recording, Strategy strategy, std::uint64_t seed);

/// The best cost among the first `count` by prediction, over the best there is, minus 1.
double predicted_regret(const Recording& recording, std::size_t count);

}  // namespace heddle
