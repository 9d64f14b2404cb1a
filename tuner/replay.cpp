#include "tuner/replay.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <sstream>

#include "generator/cost_model.hpp"
#include "tuner/statistics.hpp"

namespace heddle {
namespace {

constexpr double kFailed = std::numeric_limits<double>::infinity();

/// "nanoseconds@MHz nanoseconds@MHz".
std::vector<double> samples_of(const Measurement& row) {
  if (row.evidence != Evidence::kMeasured) return {};
  std::vector<double> samples;
  std::istringstream words(row.timings);
  for (std::string word; words >> word;) {
    double nanoseconds = 0;
    if (parse_value(word.substr(0, word.find('@')), nanoseconds)) {
      samples.push_back(nanoseconds * 1e-9);
    }
  }
  if (samples.empty()) samples.push_back(row.median_seconds);
  return samples;
}

DeviceLimits limits_of(const DeviceClass& device) {
  const DeviceLimits* row = row_for_capability(device.capability_major, device.capability_minor);
  DeviceLimits limits = row != nullptr ? *row : find_architecture("sm_80");
  limits.sm_count = device.sm_count;
  limits.l2_bytes = device.l2_bytes;
  return limits;
}

std::vector<std::size_t> neighbours(const Recording& recording, std::size_t position) {
  const KernelConfig& config = recording.entries[position].config;
  std::vector<std::size_t> near;
  for (std::size_t i = 0; i < recording.entries.size(); ++i) {
    int differences = 0;
    for_each_field(config, [&](const auto& knob, const auto& value) {
      differences += value == recording.entries[i].config.*(knob.member) ? 0 : 1;
    });
    if (differences == 1) near.push_back(i);
  }
  return near;
}

}  // namespace

double Recording::best_cost() const {
  double best = kFailed;
  for (const Entry& entry : entries) best = std::min(best, entry.cost);
  return best;
}

std::vector<Recording> recordings_of(const std::vector<Measurement>& rows) {
  std::map<std::string, Recording> recordings;
  std::map<std::string, std::map<std::string, Recording::Entry>> entries;
  for (const Measurement& row : rows) {
    if (row.evidence == Evidence::kPredicted) continue;
    const std::string key = canonical_text(row.variant) + ' ' + canonical_text(row.sizes) + ' ' +
                            canonical_text(row.device);
    Recording& recording = recordings[key];
    recording.problem = {row.variant, row.sizes};
    recording.device = row.device;
    auto samples = samples_of(row);
    Recording::Entry& entry = entries[key][canonical_text(row.config)];
    const bool known = entry.cost > 0;
    if (known && samples.size() <= entry.samples.size()) continue;
    entry.config = row.config;
    entry.predicted_seconds = predict(recording.problem, row.config, limits_of(row.device)).seconds;
    entry.cost = samples.empty() ? kFailed : median_interval(samples).median;
    entry.samples = std::move(samples);
  }
  std::vector<Recording> list;
  for (auto& [key, recording] : recordings) {
    for (auto& [config, entry] : entries[key]) recording.entries.push_back(std::move(entry));
    std::stable_sort(recording.entries.begin(), recording.entries.end(),
                     [](const Recording::Entry& left, const Recording::Entry& right) {
                       return left.predicted_seconds < right.predicted_seconds;
                     });
    list.push_back(std::move(recording));
  }
  return list;
}

Replayed replay(const Recording& recording, Strategy strategy, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto measure = [&](const Recording::Entry& entry) {
    return entry.samples.empty() ? kFailed : entry.samples[engine() % entry.samples.size()];
  };
  const auto search = make_strategy(
      strategy, {recording.entries.size(),
                 {},
                 [&](std::size_t position) { return neighbours(recording, position); },
                 seed});
  Replayed result;
  double told = kFailed, chosen = kFailed;
  while (const auto position = search->next()) {
    const Recording::Entry& entry = recording.entries[*position];
    const double cost = measure(entry);
    search->notify(*position, cost);
    ++result.tried;
    if (cost >= told) continue;
    told = cost;
    chosen = entry.cost;
  }
  result.regret = chosen / recording.best_cost() - 1;
  return result;
}

double predicted_regret(const Recording& recording, std::size_t count) {
  double best = kFailed;
  for (std::size_t i = 0; i < std::min(count, recording.entries.size()); ++i) {
    best = std::min(best, recording.entries[i].cost);
  }
  return best / recording.best_cost() - 1;
}

}  // namespace heddle
