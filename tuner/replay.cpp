#include "tuner/replay.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <utility>

#include "generator/cost_model.hpp"
#include "tuner/candidate_list.hpp"
#include "tuner/contest.hpp"
#include "tuner/statistics.hpp"

namespace heddle {
namespace {

constexpr int kLastSamples = 20;  ///< TuneOptions'
constexpr std::size_t kScreenBatch = 6;
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

/// A device whose kernels take what was recorded, each sample off by a deviation that is drawn from
/// those of all the problem's samples: five of one kernel are too few to draw from.
class RecordedRunner final : public CandidateRunner {
 public:
  RecordedRunner(const Recording& recording, std::mt19937_64& engine)
      : recording_(recording), engine_(engine) {
    std::vector<double> units;
    for (const auto& entry : recording.entries) {
      if (entry.samples.empty()) continue;
      units.push_back(entry.seconds.front() / entry.samples.front());
      for (const double sample : entry.samples) deviations_.push_back(sample / entry.cost);
    }
    unit_seconds_ = median_interval(units).median;
  }

  CheckOutcome check(const Contestant& contestant) override {
    const auto& entries = recording_.entries;
    const auto entry = std::find_if(
        entries.begin(), entries.end(),
        [&](const Recording::Entry& candidate) { return candidate.config == contestant.config; });
    if (entry->samples.empty()) return {std::nullopt, entry->failure};
    loaded_[contestant.id] = entry->cost * unit_seconds_;
    return {CheckRecord{.passed = true}, ""};
  }
  RaceOutcome race(const RaceRound& round) override {
    RaceOutcome outcome;
    for (const int id : round.ids) {
      double lasting = 1;
      for (int sample = 0; sample < round.samples; ++sample) {
        if (sample % Replay::kLasting == 0) lasting = drawn_deviation();
        outcome.timings[id].seconds.push_back(loaded_.at(id) * lasting * drawn_deviation());
      }
    }
    for (auto& [id, timing] : outcome.timings) summarise(timing);
    return outcome;
  }
  void release(int) override {}
  bool usable() const override { return true; }

 private:
  double drawn_deviation() { return deviations_[engine_() % deviations_.size()]; }

  const Recording& recording_;
  std::mt19937_64& engine_;
  std::vector<double> deviations_;  ///< of a sample from its kernel's median, as factors
  double unit_seconds_ = 1;         ///< of what costs 1
  std::map<int, double> loaded_;    ///< seconds
};

/// As DeviceSearch, without compiling.
class ReplayedSearch {
 public:
  ReplayedSearch(const Recording& recording, std::optional<std::size_t> base,
                 SearchStrategy& search, std::uint64_t seed)
      : recording_(recording),
        base_(base),
        search_(search),
        engine_(seed),
        runner_(recording, engine_),
        contest_(runner_, kLastSamples),
        candidates_(recording.entries.size()) {
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      candidates_[i].id = static_cast<int>(i);
      candidates_[i].config = recording.entries[i].config;
      candidates_[i].prediction.seconds = recording.entries[i].predicted_seconds;
    }
  }

  Replayed run() {
    while (feed() || !compiling_.empty() || !ready_.empty()) {
      if (!compiling_.empty()) take();
      if (ready_.size() >= kScreenBatch || compiling_.empty()) screen();
    }
    return decide();
  }

 private:
  bool feed() {
    bool fed = false;
    while (compiling_.size() < 2 * Replay::kThreads) {
      const auto position = search_.next();
      if (!position) break;
      fed = true;
      ++tried_;
      compiling_.push_back(*position);
      if (tried_ == 1 && base_) break;  // it comes first and alone
    }
    return fed;
  }
  void take() {
    const auto which = engine_() % std::min(compiling_.size(), Replay::kThreads);
    const auto place = compiling_.begin() + static_cast<std::ptrdiff_t>(which);
    Candidate& candidate = candidates_[*place];
    compiling_.erase(place);
    candidate.failure = runner_.check({candidate.id, candidate.config, nullptr}).failure;
    if (candidate.failure.empty()) {
      ready_.push_back(&candidate);
    } else {
      search_.notify(static_cast<std::size_t>(candidate.id), kFailed);
    }
  }
  void screen() {
    if (ready_.empty()) return;
    contest_.screen(ready_);
    for (const Candidate* candidate : std::exchange(ready_, {})) {
      search_.notify(static_cast<std::size_t>(candidate->id), candidate->relative);
    }
  }
  Replayed decide() {
    Replayed result{tried_, 0, kFailed, 0};
    std::vector<Candidate*> near;
    for (Candidate& candidate : candidates_) {
      if (contest_.is_near(candidate)) near.push_back(&candidate);
    }
    if (near.empty()) return result;
    Candidate* base = base_ && candidates_[*base_].failure.empty() ? &candidates_[*base_] : nullptr;
    const auto last = contest_.shoot_out(near, base);
    const Candidate* winner = last.winner;
    result.noise = last.noise;
    if (winner == nullptr) return result;
    result.chosen = static_cast<std::size_t>(winner->id);
    result.regret = recording_.entries[result.chosen].cost / recording_.best_cost() - 1;
    return result;
  }

  const Recording& recording_;
  std::optional<std::size_t> base_;
  SearchStrategy& search_;
  std::mt19937_64 engine_;
  RecordedRunner runner_;
  Contest contest_;
  std::vector<Candidate> candidates_;
  std::vector<std::size_t> compiling_;
  std::vector<Candidate*> ready_;
  std::size_t tried_ = 0;
};

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

std::optional<std::size_t> recorded_default(const Recording& recording) {
  std::set<Family> families;
  for (const auto& entry : recording.entries) families.insert(entry.config.family);
  const auto base = base_config(recording.problem, limits_of(recording.device),
                                {families.begin(), families.end()});
  for (std::size_t i = 0; base && i < recording.entries.size(); ++i) {
    if (recording.entries[i].config == *base) return i;
  }
  return std::nullopt;
}

Replay::Replay(const Recording& recording)
    : recording_(recording), base_(recorded_default(recording)) {
  for (std::size_t i = 0; i < recording.entries.size(); ++i) {
    neighbours_.push_back(neighbours(recording, i));
  }
}

Replayed Replay::run(Strategy strategy, std::uint64_t seed) const {
  std::vector<std::size_t> seeds;
  if (base_) seeds.push_back(*base_);
  const auto search =
      make_strategy(strategy, {recording_.entries.size(), seeds,
                               [&](std::size_t position) { return neighbours_[position]; }, seed});
  return ReplayedSearch(recording_, base_, *search, seed).run();
}

double predicted_regret(const Recording& recording, std::size_t count) {
  double best = kFailed;
  for (std::size_t i = 0; i < std::min(count, recording.entries.size()); ++i) {
    best = std::min(best, recording.entries[i].cost);
  }
  return best / recording.best_cost() - 1;
}

}  // namespace heddle
