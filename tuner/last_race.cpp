#include "tuner/last_race.hpp"

#include <algorithm>
#include <numeric>

#include "tuner/statistics.hpp"

namespace heddle {
namespace {

template <typename T>
void append(std::vector<T>& list, const std::vector<T>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

}  // namespace

const std::vector<double>& LastRace::seconds(int id) const {
  static const std::vector<double> kNone;
  const auto found = timings_.find(id);
  return found == timings_.end() ? kNone : found->second.seconds;
}

double LastRace::ratio(const Candidate& racer, const Candidate& reference) const {
  return median_interval(paired_ratios(seconds(racer.id), seconds(reference.id))).median;
}

std::vector<Candidate*> LastRace::finalists() const {
  std::vector<Candidate*> list;
  for (Candidate* racer : racers_) {
    if (racer->failure.empty() && !seconds(racer->id).empty()) list.push_back(racer);
  }
  return list;
}

/// The best predicted first; an order that does not hang on what was measured.
std::vector<Candidate*> LastRace::by_prediction() const {
  auto list = finalists();
  const auto rank = [](const Candidate* racer) {
    return std::pair(racer->prediction.seconds, canonical_text(racer->config));
  };
  std::sort(list.begin(), list.end(), [&](const Candidate* left, const Candidate* right) {
    return rank(left) < rank(right);
  });
  return list;
}

/// Ratios' medians are no order: one may beat a second, that a third, and the third the first. So
/// all are put on the one scale that is stored, time over the baseline's.
const Candidate* LastRace::reference() const {
  const auto list = by_prediction();
  if (list.empty()) return nullptr;
  return std::count(list.begin(), list.end(), baseline_) > 0 ? baseline_ : list.front();
}

const Candidate* LastRace::fastest() const {
  const Candidate* scale = reference();
  const Candidate* best = scale;
  double least = 1;
  for (const Candidate* racer : by_prediction()) {
    const double cost = ratio(*racer, *scale);
    if (cost < least) {
      least = cost;
      best = racer;
    }
  }
  return best;
}

/// Not beyond doubt slower than the fastest.
bool LastRace::may_be_fastest(const Candidate& racer) const {
  const Candidate& best = *fastest();
  if (&racer == &best) return true;
  return median_interval(paired_ratios(seconds(racer.id), seconds(best.id))).low <= 1 + noise();
}

double LastRace::noise() const {
  const auto ratios = paired_ratios(seconds(control_), seconds(racers_.front()->id));
  if (ratios.empty()) return 0;
  const MedianInterval interval = median_interval(ratios);
  return std::max({interval.high - 1, 1 - interval.low, 0.0});
}

bool LastRace::is_told() const {
  const auto rivals = std::count_if(running_.begin(), running_.end(),
                                    [&](const Candidate* racer) { return may_be_fastest(*racer); });
  return rivals < 2 || (control_runs_ && noise() <= kFineNoise);
}

std::vector<int> LastRace::next_round() const {
  const bool is_over = rounds_ >= kMostRounds || spent_seconds_ >= kMostSeconds;
  if (rounds_ > 0 && (is_over || is_told())) return {};
  std::vector<int> ids;
  for (const Candidate* racer : running_) ids.push_back(racer->id);
  if (control_ >= 0 && control_runs_) ids.push_back(control_);
  return ids;
}

void LastRace::add(const RaceOutcome& outcome) {
  ++rounds_;
  for (const auto& [id, timing] : outcome.timings) {
    Timing& all = timings_[id];
    append(all.seconds, timing.seconds);
    append(all.clocks_mhz, timing.clocks_mhz);
    summarise(all);
    spent_seconds_ += std::accumulate(timing.seconds.begin(), timing.seconds.end(), 0.0);
  }
  for (Candidate* racer : racers_) {
    const auto all = timings_.find(racer->id);
    if (all != timings_.end()) racer->timing = all->second;
  }
  leave(outcome);
}

/// The baseline stays, which all are relative to, and the front one, whose copy the control is.
void LastRace::leave(const RaceOutcome& outcome) {
  control_runs_ = control_runs_ && outcome.timings.count(control_) > 0;
  std::erase_if(running_, [&](const Candidate* racer) {
    if (!racer->failure.empty() || outcome.timings.count(racer->id) == 0) return true;
    return racer != baseline_ && racer != racers_.front() && !may_be_fastest(*racer);
  });
}

Candidate* LastRace::winner() const {
  const auto list = by_prediction();
  if (list.empty()) return nullptr;
  const Candidate* best = fastest();
  const bool has_base = reference() == baseline_;
  const auto wins = [&](const Candidate* racer) {
    const bool equals = racer == best || ratio(*racer, *best) <= 1 + noise();
    return equals && (!has_base || racer == baseline_ || ratio(*racer, *baseline_) < 1);
  };
  const auto base = std::find(list.begin(), list.end(), baseline_);
  if (base != list.end() && wins(*base)) return *base;
  return *std::find_if(list.begin(), list.end(), wins);
}

}  // namespace heddle
