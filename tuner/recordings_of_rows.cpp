// Rows of a database as recordings: what is measured by one set of versions, never by several,
// since another compiler makes other kernels of one config.

#include <map>
#include <sstream>

#include "tuner/relative_scale.hpp"
#include "tuner/replay.hpp"

namespace heddle {
namespace {

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

std::string versions_of(const Provenance& origin) {
  return "heddle " + origin.heddle_version + ", driver " + origin.driver_version + ", NVRTC " +
         origin.nvrtc_version;
}

/// Rows of one problem by one set of versions.
struct VersionSet {
  std::string newest;  ///< when
  std::vector<const Measurement*> rows;
};
using VersionSets = std::map<std::string, VersionSet>;

/// The newest of those whose text contains `made_by`; end() = there is none.
VersionSets::const_iterator newest_of(const VersionSets& sets, const std::string& made_by) {
  auto newest = sets.end();
  for (auto set = sets.begin(); set != sets.end(); ++set) {
    if (set->first.find(made_by) == std::string::npos) continue;
    if (newest == sets.end() || set->second.newest > newest->second.newest) newest = set;
  }
  return newest;
}

/// Of several rows for one config that with the most samples, else the newest. All are relative to
/// the newest default, or to nothing.
std::vector<Recording::Entry> entries_of(const std::vector<const Measurement*>& rows) {
  std::optional<RelativeScale> scale;
  if (const auto unit = newest_default(rows)) scale.emplace(rows, *unit);
  struct Best {
    Recording::Entry entry;
    std::string when;
  };
  std::map<std::string, Best> best;
  for (const Measurement* row : rows) {
    auto samples = samples_of(*row);
    const auto [place, is_first] = best.try_emplace(canonical_text(row->config));
    Best& known = place->second;
    const auto rank = [](std::size_t count, const std::string& when) {
      return std::pair(count, when);
    };
    const auto& when = row->provenance.when;
    if (!is_first && rank(samples.size(), when) < rank(known.entry.seconds.size(), known.when)) {
      continue;
    }
    known.when = when;
    known.entry.config = row->config;
    known.entry.seconds = std::move(samples);
    known.entry.relative = scale ? scale->in_turns(*row).value_or(0) : row->relative;
    known.entry.failure = row->failure;
  }
  std::vector<Recording::Entry> entries;
  for (auto& [config, known] : best) entries.push_back(std::move(known.entry));
  return entries;
}

Recording recording_of(const VersionSets& sets, const std::string& made_by) {
  const Measurement& any = *sets.begin()->second.rows.front();
  Recording recording;
  recording.problem = {any.variant, any.sizes};
  recording.device = any.device;
  const auto taken = newest_of(sets, made_by);
  for (auto set = sets.begin(); set != sets.end(); ++set) {
    if (set != taken) recording.left_out[set->first] = static_cast<int>(set->second.rows.size());
  }
  if (taken == sets.end()) return recording;
  recording.made = taken->first + ", " + taken->second.newest;
  recording.entries = entries_of(taken->second.rows);
  recording.finish();
  return recording;
}

}  // namespace

std::vector<Recording> recordings_of(const std::vector<Measurement>& rows,
                                     const std::string& made_by) {
  std::map<std::string, VersionSets> problems;
  for (const Measurement& row : rows) {
    if (row.evidence == Evidence::kPredicted || row.warm) continue;  // what is replayed is cold
    const std::string key = canonical_text(row.variant) + ' ' + canonical_text(row.sizes) + ' ' +
                            canonical_text(row.device);
    VersionSet& set = problems[key][versions_of(row.provenance)];
    set.newest = std::max(set.newest, row.provenance.when);
    set.rows.push_back(&row);
  }
  std::vector<Recording> list;
  for (const auto& [key, sets] : problems) list.push_back(recording_of(sets, made_by));
  return list;
}

}  // namespace heddle
