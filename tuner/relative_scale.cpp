#include "tuner/relative_scale.hpp"

#include "tuning_db/results_lookup.hpp"

namespace heddle {
namespace {

bool has_scale(const Measurement& row) {
  return row.evidence == Evidence::kMeasured && row.relative > 0 && row.median_seconds > 0;
}

/// The default is measured before all others, and 1 whenever it is.
bool may_be_default(const Measurement& row, const Measurement* known) {
  return row.relative == 1 && (known == nullptr || row.elapsed_seconds < known->elapsed_seconds);
}

std::map<std::string, const Measurement*> defaults_of(const std::vector<const Measurement*>& rows) {
  std::map<std::string, const Measurement*> defaults;
  for (const Measurement* row : rows) {
    if (!has_scale(*row)) continue;
    const Measurement*& known = defaults[row->tuning];
    if (may_be_default(*row, known)) known = row;
  }
  return defaults;
}

}  // namespace

RelativeScale::RelativeScale(const std::vector<const Measurement*>& rows,
                             const KernelConfig& unit) {
  const Measurement* newest = nullptr;
  std::map<std::string, const Measurement*> last;
  for (const Measurement* row : rows) {
    if (!has_scale(*row) || !(row->config == unit)) continue;
    if (newest == nullptr || is_newer(*row, *newest)) newest = row;
    const Measurement*& known = last[row->tuning];
    if (known == nullptr || is_newer(*row, *known)) known = row;
  }
  if (newest != nullptr) unit_seconds_ = newest->median_seconds;
  for (const auto& [tuning, first] : defaults_of(rows)) {
    if (first == nullptr) continue;  // its rows may have been pruned
    const auto found = last.find(tuning);
    if (first->config == unit) {
      unit_[tuning] = 1;
    } else if (found != last.end()) {
      unit_[tuning] = found->second->relative;
    }
  }
}

std::optional<double> RelativeScale::in_turns(const Measurement& row) const {
  const auto found = unit_.find(row.tuning);
  if (found == unit_.end() || !(row.relative > 0)) return std::nullopt;
  return row.relative / found->second;
}

std::optional<double> RelativeScale::roughly(const Measurement& row) const {
  if (const auto exact = in_turns(row)) return exact;
  if (!(unit_seconds_ > 0 && row.median_seconds > 0)) return std::nullopt;
  return row.median_seconds / unit_seconds_;
}

std::optional<KernelConfig> newest_default(const std::vector<const Measurement*>& rows) {
  const Measurement* newest = nullptr;
  for (const auto& [tuning, row] : defaults_of(rows)) {
    if (row != nullptr && (newest == nullptr || is_newer(*row, *newest))) newest = row;
  }
  if (newest == nullptr) return std::nullopt;
  return newest->config;
}

}  // namespace heddle
