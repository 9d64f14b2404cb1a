#include "tuning_db/transfer_regret.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "tuning_db/results_lookup.hpp"

namespace heddle {
namespace {

/// Transfers count as alike within this many doublings of distance.
constexpr double kBand = 0.5;
/// A place with fewer says nothing of what a transferred winner would take, except where that is
/// its own: counting only those would flatter.
constexpr std::size_t kLeastConfigs = 8;

/// One size on one device: what each config takes over the default, by its newest valid row.
struct Place {
  SizeBucket bucket;
  DeviceClass device;
  std::map<std::string, const Measurement*> configs;
  const Measurement* winner = nullptr;

  double relative(const std::string& config) const {
    const auto found = configs.find(config);
    return found == configs.end() ? 0 : found->second->relative;
  }
};

bool counts(const Measurement& row) {
  return row.evidence == Evidence::kMeasured && row.check && row.check->passed &&
         row.relative > 0 && !row.warm;
}

std::vector<Place> places_of(const std::vector<Measurement>& rows) {
  std::map<std::pair<std::string, std::string>, Place> places;
  for (const Measurement& row : rows) {
    if (!counts(row)) continue;
    Place& place = places[{canonical_text(row.device), canonical_text(row.bucket)}];
    place.bucket = row.bucket;
    place.device = row.device;
    const Measurement*& newest = place.configs[canonical_text(row.config)];
    if (newest == nullptr || is_newer(row, *newest)) newest = &row;
    if (!row.chosen) continue;
    if (place.winner == nullptr || is_newer(row, *place.winner)) place.winner = &row;
  }
  std::vector<Place> tuned;
  for (auto& [key, place] : places) {
    if (place.winner != nullptr) tuned.push_back(std::move(place));
  }
  return tuned;
}

double distance(const Transfer& transfer) {
  return device_distance(transfer.from_device, transfer.to_device) +
         size_distance(transfer.from_bucket, transfer.to_bucket);
}

bool is_alike(const Transfer& left, const Transfer& right) {
  const auto crosses = [](const Transfer& transfer) {
    return !transfer.from_device.same_class(transfer.to_device);
  };
  const auto capability = [](const DeviceClass& device) {
    return std::pair(device.capability_major, device.capability_minor);
  };
  return crosses(left) == crosses(right) &&
         capability(left.from_device) == capability(right.from_device) &&
         capability(left.to_device) == capability(right.to_device) &&
         std::abs(distance(left) - distance(right)) <= kBand;
}

}  // namespace

std::optional<TransferRegret> transfer_regret(const std::vector<Measurement>& rows,
                                              const Transfer& transfer) {
  const std::vector<Place> places = places_of(rows);
  TransferRegret regret;
  double sum_of_logs = 0;
  for (const Place& to : places) {
    if (to.configs.size() < kLeastConfigs) continue;
    for (const Place& from : places) {
      if (&from == &to) continue;
      if (!is_alike({from.bucket, to.bucket, from.device, to.device}, transfer)) continue;
      const double taken = to.relative(canonical_text(from.winner->config));
      if (!(taken > 0)) continue;  // not tried there
      const double ratio = taken / to.relative(canonical_text(to.winner->config));
      sum_of_logs += std::log(ratio);
      regret.worst = regret.samples == 0 ? ratio : std::max(regret.worst, ratio);
      ++regret.samples;
    }
  }
  if (regret.samples == 0) return std::nullopt;
  regret.mean = std::exp(sum_of_logs / regret.samples);
  return regret;
}

}  // namespace heddle
