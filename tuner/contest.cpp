#include "tuner/contest.hpp"

#include <algorithm>
#include <limits>

#include "tuner/last_race.hpp"
#include "tuner/statistics.hpp"

namespace heddle {
namespace {

constexpr int kWarmUps = 2;
constexpr int kNarrowSamples = 9;
constexpr double kHopeless = 1.25;  ///< times the best; such a one is not kept loaded
constexpr double kClose = 1.03;
constexpr std::size_t kMostFinalists = 8;
constexpr int kControlId = std::numeric_limits<int>::max();

bool leads(const Candidate* left, const Candidate* right) {
  return left->relative < right->relative;
}

double ratio(const RaceOutcome& outcome, int id, int reference) {
  return median_interval(
             paired_ratios(outcome.timings.at(id).seconds, outcome.timings.at(reference).seconds))
      .median;
}

}  // namespace

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
  if (leader_ != nullptr) racers.insert(racers.begin(), leader_);
  RaceRound round{{}, kWarmUps, kScreenSamples};
  for (const Candidate* racer : racers) round.ids.push_back(racer->id);
  const RaceOutcome outcome = race(racers, round);
  const auto has_failed = [](const Candidate* racer) { return !racer->failure.empty(); };
  std::erase_if(racers, has_failed);
  std::erase_if(standing_, has_failed);
  if (racers.empty()) return find_leader();
  // Who was measured before tells what 1 is.
  const auto known = std::find_if(racers.begin(), racers.end(),
                                  [](const Candidate* racer) { return racer->relative > 0; });
  const bool in_scale = known != racers.end();
  if (!in_scale && !standing_.empty()) return screen_beside_next(batch);
  Candidate* reference = in_scale ? *known : racers.front();
  if (!in_scale) {
    reference->relative = 1;
    first_ = reference;
  }
  for (Candidate* racer : racers) {
    if (racer != reference) {
      racer->relative = reference->relative * ratio(outcome, racer->id, reference->id);
    }
    if (std::count(standing_.begin(), standing_.end(), racer) == 0) standing_.push_back(racer);
  }
  find_leader();
  std::erase_if(standing_, [&](const Candidate* racer) {
    const bool hopeless = racer != first_ && racer->relative > leader_->relative * kHopeless;
    if (hopeless) runner_.release(racer->id);
    return hopeless;
  });
}

/// The leader has failed beside them, and with it what they were to be compared with.
void Contest::screen_beside_next(std::vector<Candidate*> batch) {
  find_leader();
  std::erase_if(batch, [](const Candidate* racer) { return !racer->failure.empty(); });
  if (!batch.empty()) screen(batch);
}

bool Contest::is_near(const Candidate& candidate) const {
  return candidate.relative > 0 &&
         (leader_ == nullptr || candidate.relative <= leader_->relative * kNear);
}

/// Measures them again, better, and keeps those that may be the fastest.
Contest::Narrowed Contest::narrow(std::vector<Candidate*> racers, Candidate* baseline) {
  std::stable_sort(racers.begin(), racers.end(), leads);
  if (racers.size() > kMostNear) racers.resize(kMostNear);
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
  const double limit = cost[racers.front()] * kClose;
  const bool in_scale = baseline != nullptr && baseline->failure.empty();
  Narrowed narrowed;
  for (Candidate* racer : racers) {
    const bool fits = cost[racer] <= limit && narrowed.close.size() < kMostFinalists;
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
