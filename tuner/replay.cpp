#include "tuner/replay.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include "generator/cost_model.hpp"
#include "tuner/contest.hpp"
#include "tuner/statistics.hpp"

namespace heddle {
namespace {

constexpr double kFailed = std::numeric_limits<double>::infinity();

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

void Recording::finish() {
  const DeviceLimits limits = limits_of(device);
  const bool in_turns = std::all_of(entries.begin(), entries.end(), [](const Entry& entry) {
    return entry.seconds.empty() || entry.relative > 0;
  });
  for (Entry& entry : entries) {
    entry.predicted_seconds = predict(problem, entry.config, limits).seconds;
    entry.samples = entry.seconds;
    entry.cost = kFailed;
    if (entry.seconds.empty()) continue;
    const double median = median_interval(entry.seconds).median;
    entry.cost = in_turns ? entry.relative : median;
    for (double& sample : entry.samples) sample *= entry.cost / median;
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& left, const Entry& right) {
    return left.predicted_seconds < right.predicted_seconds;
  });
}

double Recording::best_cost() const {
  double best = kFailed;
  for (const Entry& entry : entries) best = std::min(best, entry.cost);
  return best;
}

DeviceLimits limits_of(const DeviceClass& device) {
  const DeviceLimits* row = row_for_capability(device.capability_major, device.capability_minor);
  DeviceLimits limits = row != nullptr ? *row : find_architecture("sm_80");
  limits.sm_count = device.sm_count;
  limits.l2_bytes = device.l2_bytes;
  return limits;
}

Replayed replay(const Recording& recording, Strategy strategy, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto measure = [&](const Recording::Entry& entry) {
    if (entry.samples.empty()) return kFailed;
    std::vector<double> drawn(Contest::kScreenSamples);
    for (double& sample : drawn) sample = entry.samples[engine() % entry.samples.size()];
    return median_interval(std::move(drawn)).median;
  };
  const auto search = make_strategy(
      strategy, {recording.entries.size(),
                 {},
                 [&](std::size_t position) { return neighbours(recording, position); },
                 seed});
  Replayed result;
  std::vector<std::pair<double, double>> told;  // with what it costs in truth
  while (const auto position = search->next()) {
    const Recording::Entry& entry = recording.entries[*position];
    told.emplace_back(measure(entry), entry.cost);
    search->notify(*position, told.back().first);
  }
  result.tried = told.size();
  std::sort(told.begin(), told.end());
  double chosen = kFailed;
  for (std::size_t i = 0; i < std::min(told.size(), Contest::kMostNear); ++i) {
    if (told[i].first <= told.front().first * Contest::kNear)
      chosen = std::min(chosen, told[i].second);
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
