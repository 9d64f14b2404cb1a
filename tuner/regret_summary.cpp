#include "tuner/regret_summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "generator/candidates.hpp"
#include "tuner/candidate_list.hpp"

namespace heddle {
namespace {

/// Searching is repeated, since it is told drawn samples.
constexpr int kSeeds = 5;
constexpr std::size_t kPredictedBest = 8;

ProblemRegret::ByStrategy by_strategy(const Replay& replay, Strategy strategy) {
  ProblemRegret::ByStrategy result;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const Replayed replayed = replay.run(strategy, static_cast<std::uint64_t>(seed));
    result.tried += static_cast<double>(replayed.tried) / kSeeds;
    result.mean += replayed.regret / kSeeds;
    result.worst = std::max(result.worst, replayed.regret);
  }
  return result;
}

std::vector<Family> families_of(const Recording& recording) {
  std::set<Family> families;
  for (const auto& entry : recording.entries) families.insert(entry.config.family);
  return {families.begin(), families.end()};
}

double cost_of(const Recording& recording, const KernelConfig& config) {
  for (const auto& entry : recording.entries) {
    if (entry.config == config) return entry.cost;
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace

void keep_legal(Recording& recording) {
  const DeviceLimits limits = limits_of(recording.device);
  const auto families = families_of(recording);
  std::set<std::string> legal;
  for (const Family family : families) {
    for (const RankedConfig& ranked : rank_candidates(recording.problem, limits, family)) {
      legal.insert(canonical_text(ranked.config));
    }
  }
  // The search space need not hold it.
  const auto base = base_config(recording.problem, limits, families);
  if (base) legal.insert(canonical_text(*base));
  std::erase_if(recording.entries, [&](const Recording::Entry& entry) {
    return legal.count(canonical_text(entry.config)) == 0;
  });
  recording.legal = static_cast<int>(legal.size());
}

ProblemRegret problem_regret(const Recording& recording) {
  ProblemRegret regret;
  const Problem& problem = recording.problem;
  regret.problem = canonical_text(problem.variant) + ' ' + canonical_text(problem.sizes);
  regret.legal = recording.legal;
  regret.configs = static_cast<int>(recording.entries.size());
  const double best_cost = recording.best_cost();
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (const auto& entry : recording.entries) {
    if (std::isinf(entry.cost)) {
      ++regret.failed;
      continue;
    }
    fewest = std::min(fewest, entry.seconds.size());
    if (entry.cost == best_cost) regret.best = entry.config;
  }
  if (regret.failed == regret.configs) return regret;
  regret.fewest_samples = static_cast<int>(fewest);
  const auto base = base_config(problem, limits_of(recording.device), families_of(recording));
  regret.by_default =
      base ? cost_of(recording, *base) / best_cost - 1 : std::numeric_limits<double>::infinity();
  regret.predicted_first = predicted_regret(recording, 1);
  regret.predicted_eight = predicted_regret(recording, kPredictedBest);
  const Replay replay(recording);
  regret.ranked = by_strategy(replay, Strategy::kRanked);
  regret.local = by_strategy(replay, Strategy::kLocal);
  regret.random = by_strategy(replay, Strategy::kRandom);
  return regret;
}

RegretSummary summarise(const std::vector<Recording>& recordings) {
  RegretSummary summary;
  for (const Recording& recording : recordings) {
    summary.problems.push_back(problem_regret(recording));
  }
  const auto count = static_cast<double>(recordings.size());
  for (const ProblemRegret& problem : summary.problems) {
    summary.ranked_mean += problem.ranked.mean / count;
    summary.ranked_worst = std::max(summary.ranked_worst, problem.ranked.worst);
    summary.local_mean += problem.local.mean / count;
    summary.local_worst = std::max(summary.local_worst, problem.local.worst);
    summary.predicted_first_mean += problem.predicted_first / count;
    summary.eight_near_share += problem.predicted_eight <= kPredictedNear ? 1 / count : 0;
  }
  return summary;
}

}  // namespace heddle
