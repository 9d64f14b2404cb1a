#include "tuner/candidate_list.hpp"

#include <algorithm>

namespace heddle {
namespace {

bool is_wanted(Family family, const std::vector<Family>& families) {
  return families.empty() || std::count(families.begin(), families.end(), family) > 0;
}

/// A config without its place in the list.
Candidate candidate_of(const KernelConfig& config, const Prediction& prediction) {
  Candidate candidate;
  candidate.config = config;
  candidate.prediction = prediction;
  return candidate;
}

std::vector<Candidate>::iterator find(std::vector<Candidate>& candidates,
                                      const KernelConfig& config) {
  return std::find_if(candidates.begin(), candidates.end(),
                      [&](const Candidate& entry) { return entry.config == config; });
}

/// Those of the search space, and the default, which may lie beside it.
std::vector<Candidate> ranked(const Problem& problem, const DeviceLimits& limits,
                              const TuneOptions& options, const std::optional<KernelConfig>& base) {
  std::vector<Candidate> candidates;
  for (const RankedConfig& entry : rank_candidates(problem, limits)) {
    if (!is_wanted(entry.config.family, options.families)) continue;
    candidates.push_back(candidate_of(entry.config, entry.prediction));
  }
  if (base && find(candidates, *base) == candidates.end()) {
    candidates.push_back(candidate_of(*base, predict(problem, *base, limits)));
  }
  return candidates;
}

/// Cuts the list but keeps the default config in it: tuning never ends slower.
void apply_limit(std::vector<Candidate>& candidates, const std::optional<KernelConfig>& base,
                 int limit) {
  if (limit <= 0 || static_cast<int>(candidates.size()) <= limit) return;
  const auto cut = candidates.begin() + limit;
  const auto found = base ? find(candidates, *base) : candidates.end();
  if (found >= cut && found != candidates.end()) std::swap(*found, *(cut - 1));
  candidates.erase(cut, candidates.end());
}

/// The default stays in every part: it is what the others are relative to.
void apply_shard(std::vector<Candidate>& candidates, const std::optional<KernelConfig>& base,
                 const Shard& shard) {
  std::size_t position = 0;
  std::erase_if(candidates, [&](const Candidate& entry) {
    const bool mine =
        static_cast<int>(position++ % static_cast<std::size_t>(shard.count)) == shard.index - 1;
    return !mine && entry.config != base;
  });
}

void add_bad(std::vector<Candidate>& candidates, const Problem& problem, const DeviceLimits& limits,
             const std::vector<BadKind>& kinds) {
  for (const BadKind kind : kinds) {
    const KernelConfig fa2;  // legal for every variant that fa2 takes
    candidates.push_back(candidate_of(fa2, predict(problem, fa2, limits)));
    candidates.back().bad = kind;
  }
}

}  // namespace

std::optional<KernelConfig> base_config(const Problem& problem, const DeviceLimits& limits,
                                        const std::vector<Family>& families) {
  const SizeBucket bucket = bucket_of(problem.sizes);
  for (const Family family : kDefaultFamilies) {
    if (!is_wanted(family, families)) continue;
    if (auto config = default_config(family, problem.variant, bucket, limits)) return config;
  }
  return std::nullopt;
}

CandidateList list_candidates(const Problem& problem, const DeviceLimits& limits,
                              const TuneOptions& options, const std::vector<KernelConfig>& near) {
  CandidateList list;
  const auto base = base_config(problem, limits, options.families);
  if (!options.only_bad) list.all = ranked(problem, limits, options, base);
  list.legal = static_cast<int>(list.all.size());
  if (list.all.empty() && !options.only_bad) {
    throw Error(ErrorCode::kNoLegalConfig, "family",
                "no configuration of the chosen families is legal for this problem on " +
                    limits.architecture);
  }
  apply_limit(list.all, base, options.limit);
  apply_shard(list.all, base, options.shard);
  const auto seed = [&](const KernelConfig& config) {
    for (std::size_t i = 0; i < list.all.size(); ++i) {
      if (list.all[i].config == config) return list.seeds.push_back(i);
    }
  };
  if (base) seed(*base);
  if (!list.seeds.empty()) list.base = list.seeds.front();
  for (const KernelConfig& config : near) seed(config);
  add_bad(list.all, problem, limits, options.bad);
  // Early, so that a test with a budget meets them.
  for (std::size_t i = list.all.size() - options.bad.size(); i < list.all.size(); ++i) {
    list.seeds.push_back(i);
  }
  for (std::size_t i = 0; i < list.all.size(); ++i) list.all[i].id = static_cast<int>(i);
  return list;
}

std::vector<std::size_t> neighbours_of(const CandidateList& list, std::size_t position) {
  const KernelConfig& config = list.all[position].config;
  std::vector<std::size_t> near;
  for (std::size_t i = 0; i < list.all.size(); ++i) {
    const Candidate& other = list.all[i];
    if (other.bad || other.config.family != config.family) continue;
    int differences = 0;
    for_each_field(config, [&](const auto& knob, const auto& value) {
      differences += value == other.config.*(knob.member) ? 0 : 1;
    });
    if (differences == 1) near.push_back(i);
  }
  return near;
}

}  // namespace heddle
