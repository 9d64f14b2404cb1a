#include "tuner/contest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tuner/last_race.hpp"
#include "tuner/statistics.hpp"

namespace heddle {
namespace {

constexpr int kWarmUps = 2;
constexpr int kNarrowSamples = 9;
constexpr double kHopeless = 1.25;  ///< times the best; such a one is not kept loaded
/// Times the best: then that one is the reference. More than kNear, so that those which the last
/// race may take were nearly all compared with the same one.
constexpr double kLeftBehind = 1.1;
constexpr double kClose = 1.03;
constexpr std::size_t kLeastFinalists = 8;
constexpr std::size_t kMostFinalists = 16;
/// Of kernels running in one round, where more than the least are to run in it.
constexpr double kRoundSeconds = 0.5;
constexpr int kControlId = std::numeric_limits<int>::max();

bool leads(const Candidate* left, const Candidate* right) {
  return left->relative < right->relative;
}

double ratio(const RaceOutcome& outcome, int id, int reference) {
  return median_interval(
             paired_ratios(outcome.timings.at(id).seconds, outcome.timings.at(reference).seconds))
      .median;
}

struct Bounds {
  std::size_t least, most;
};

/// Racers like this one in a round of so many samples. Among many that are nearly alike, a few
/// lucky ones would take the places of the fastest.
std::size_t as_many_as_fit(const Candidate* racer, int samples, Bounds bounds) {
  if (racer == nullptr || !racer->timing) return bounds.least;
  const double seconds = racer->timing->median_seconds * samples;
  if (!(seconds * static_cast<double>(bounds.most) > kRoundSeconds)) return bounds.most;
  return std::max(bounds.least, static_cast<std::size_t>(kRoundSeconds / seconds));
}

}  // namespace

std::size_t Contest::most_near() const {
  return as_many_as_fit(leader_, kNarrowSamples, {kLeastNear, kMostNear});
}

RaceOutcome Contest::race(const std::vector<Candidate*>& racers, const RaceRound& round) {
  RaceOutcome outcome = runner_.race(round);
  for (Candidate* racer : racers) {
    const auto timing = outcome.timings.find(racer->id);
    const auto failure = outcome.failures.find(racer->id);
    if (timing != outcome.timings.end()) racer->timing = timing->second;
    if (failure != outcome.failures.end()) racer->failure = failure->second;
  }
  if (!outcome.broken.empty()) {
    throw Error(ErrorCode::kDriverError, "", "measuring failed: " + outcome.broken);
  }
  return outcome;
}

void Contest::find_leader() {
  const auto best = std::min_element(standing_.begin(), standing_.end(), leads);
  leader_ = best == standing_.end() ? nullptr : *best;
}

void Contest::screen(const std::vector<Candidate*>& batch) {
  std::vector<Candidate*> racers = batch;
  if (reference_ != nullptr) racers.insert(racers.begin(), reference_);
  RaceRound round{{}, kWarmUps, kScreenSamples};
  for (const Candidate* racer : racers) round.ids.push_back(racer->id);
  const RaceOutcome outcome = race(racers, round);
  const auto has_failed = [](const Candidate* racer) { return !racer->failure.empty(); };
  std::erase_if(racers, has_failed);
  std::erase_if(standing_, has_failed);
  find_leader();
  if (reference_ != nullptr && has_failed(reference_)) {
    reference_ = leader_;  // what they were to be compared with is gone
    if (reference_ != nullptr && !racers.empty()) return screen(racers);
  }
  if (racers.empty()) return;
  if (reference_ == nullptr) {
    reference_ = racers.front();
    reference_->relative = 1;
    first_ = reference_;
  }
  for (Candidate* racer : racers) {
    if (racer != reference_) {
      racer->relative = reference_->relative * ratio(outcome, racer->id, reference_->id);
    }
    if (std::count(standing_.begin(), standing_.end(), racer) == 0) standing_.push_back(racer);
  }
  find_leader();
  if (reference_->relative > leader_->relative * kLeftBehind) reference_ = leader_;
  std::erase_if(standing_, [&](const Candidate* racer) {
    const bool hopeless = racer != first_ && racer->relative > leader_->relative * kHopeless;
    if (hopeless) runner_.release(racer->id);
    return hopeless;
  });
}

/// Of all that stand, failing a second one the leader.
double Contest::runner_up() const {
  double least = leader_->relative, second = std::numeric_limits<double>::infinity();
  for (const Candidate* racer : standing_) {
    if (racer != leader_) second = std::min(second, racer->relative);
  }
  return std::isinf(second) ? least : second;
}

bool Contest::is_near(const Candidate& candidate) const {
  return candidate.relative > 0 &&
         (leader_ == nullptr || candidate.relative <= runner_up() * kNear);
}

/// Measures them again, better, and keeps those that may be the fastest.
Contest::Narrowed Contest::narrow(std::vector<Candidate*> racers, Candidate* baseline) {
  std::stable_sort(racers.begin(), racers.end(), leads);
  if (racers.size() > most_near()) racers.resize(most_near());
  if (baseline != nullptr && std::count(racers.begin(), racers.end(), baseline) == 0) {
    racers.push_back(baseline);
  }
  RaceRound round{{}, kWarmUps, kNarrowSamples};
  for (const Candidate* racer : racers) round.ids.push_back(racer->id);
  const RaceOutcome outcome = race(racers, round);
  std::erase_if(racers, [](const Candidate* racer) { return !racer->failure.empty(); });
  if (racers.empty()) return {};
  const int reference = racers.front()->id;
  std::map<const Candidate*, double> cost;
  for (const Candidate* racer : racers) cost[racer] = ratio(outcome, racer->id, reference);
  std::stable_sort(
      racers.begin(), racers.end(),
      [&](const Candidate* left, const Candidate* right) { return cost[left] < cost[right]; });
  const double limit = cost[racers[std::min<std::size_t>(1, racers.size() - 1)]] * kClose;
  const std::size_t most =
      as_many_as_fit(racers.front(), samples_, {kLeastFinalists, kMostFinalists});
  const bool in_scale = baseline != nullptr && baseline->failure.empty();
  Narrowed narrowed;
  for (Candidate* racer : racers) {
    const bool fits = cost[racer] <= limit && narrowed.close.size() < most;
    const bool stays = fits || racer == baseline;
    (stays ? narrowed.close : narrowed.outrun).push_back(racer);
    if (!stays && in_scale) racer->relative = ratio(outcome, racer->id, baseline->id);
  }
  if (!in_scale) narrowed.outrun.clear();
  return narrowed;
}

/// The same kernel once more, under another number. -1 = it would not load.
int Contest::add_control(const Candidate& leader) {
  const CheckOutcome outcome = runner_.check({kControlId, leader.config, leader.kernels});
  return outcome.failure.empty() ? kControlId : -1;
}

Contest::Result Contest::shoot_out(std::vector<Candidate*> finalists, Candidate* baseline) {
  auto [close, outrun] = narrow(std::move(finalists), baseline);
  if (close.empty()) return {};
  Result result = judge(close, baseline, add_control(*close.front()));
  result.outrun = std::move(outrun);
  return result;
}

Contest::Result Contest::judge(const std::vector<Candidate*>& racers, Candidate* baseline,
                               int control) {
  LastRace last(racers, baseline, control);
  while (true) {
    const auto ids = last.next_round();
    if (ids.empty()) break;
    last.add(race(racers, {ids, kWarmUps + 1, samples_}));
  }
  if (control >= 0) runner_.release(control);
  Result result;
  result.finalists = last.finalists();
  if (result.finalists.empty()) return {};
  result.noise = last.noise();
  if (baseline != nullptr && baseline->failure.empty()) {
    for (Candidate* racer : result.finalists) racer->relative = last.ratio(*racer, *baseline);
  }
  result.winner = last.winner();
  return result;
}

}  // namespace heddle
