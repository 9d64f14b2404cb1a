#pragma once
// Times over a default's, of several tunings on one scale: each is relative to the default of its
// own tuning, which is another one with --families, or since a default has changed.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuning_db/records.hpp"

namespace heddle {

class RelativeScale {
 public:
  /// Of one problem. `unit`: the config whose time is 1.
  RelativeScale(const std::vector<const Measurement*>& rows, const KernelConfig& unit);

  /// Null where `unit` was not measured beside it.
  std::optional<double> in_turns(const Measurement& row) const;
  /// Else the quotient of the two medians, which is as good as a hint needs.
  std::optional<double> roughly(const Measurement& row) const;

 private:
  std::map<std::string, double> unit_;  ///< what `unit` is relative to a tuning's own default
  double unit_seconds_ = 0;             ///< as measured last; 0 = never
};

/// What the rows of the newest tuning that says so are relative to.
std::optional<KernelConfig> newest_default(const std::vector<const Measurement*>& rows);

}  // namespace heddle
