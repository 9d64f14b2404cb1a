#include "tuning_db/results_merge.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "tuning_db/results_lookup.hpp"
#include "tuning_db/results_row.hpp"

namespace heddle {
namespace {

using Place = std::tuple<std::string, std::string, std::string>;

Place place_of(const Measurement& row) {
  return {canonical_text(row.variant), canonical_text(row.bucket), canonical_text(row.device)};
}

std::map<Place, Measurement> winners_of(const std::vector<Measurement>& rows) {
  std::map<Place, Measurement> winners;
  for (Measurement& row : best_rows(rows)) {
    const Place place = place_of(row);
    winners.emplace(place, std::move(row));
  }
  return winners;
}

/// What only the newest row of counts. Failed checks condemn a kernel in every bucket, and so do
/// not give way to other failures.
std::string subject_of(const Measurement& row) {
  const bool wrong = row.check && !row.check->passed;
  return canonical_text(row.variant) + ' ' + canonical_text(row.bucket) + ' ' +
         canonical_text(row.sizes) + ' ' + canonical_text(row.device) + ' ' +
         canonical_text(row.config) + ' ' + row.provenance.source_hash + ' ' +
         std::string(enum_name(row.evidence)) + (row.chosen ? " chosen" : "") +
         (wrong ? " wrong" : "") + (row.check ? " checked" : "") +
         (row.median_seconds > 0 ? "" : " timeless");
}

}  // namespace

std::vector<MergeConflict> merge_conflicts(const std::vector<Measurement>& ours,
                                           const std::vector<Measurement>& theirs) {
  std::vector<Measurement> both = ours;
  both.insert(both.end(), theirs.begin(), theirs.end());
  // The union's rows in one order, whoever's they are.
  std::sort(both.begin(), both.end(), listed_before);
  const auto ours_won = winners_of(ours), theirs_won = winners_of(theirs), all = winners_of(both);
  std::vector<MergeConflict> conflicts;
  for (const auto& [place, mine] : ours_won) {
    const auto found = theirs_won.find(place);
    const auto winner = all.find(place);
    if (found == theirs_won.end() || winner == all.end()) continue;
    if (found->second.config == mine.config) continue;
    const bool mine_wins = winner->second.config == mine.config;
    conflicts.push_back({winner->second, mine_wins ? found->second : mine});
  }
  return conflicts;
}

std::vector<Measurement> superfluous_rows(const std::vector<Measurement>& rows, bool failures,
                                          const std::string& older_than) {
  std::map<std::string, const Measurement*> newest;
  for (const Measurement& row : rows) {
    const Measurement*& known = newest[subject_of(row)];
    if (known == nullptr || is_newer(row, *known)) known = &row;
  }
  std::map<std::string, bool> answers;  // by checksum
  for (const Measurement& row : best_rows(rows)) answers[row_checksum(columns_of(row))] = true;
  std::vector<Measurement> superfluous;
  for (const Measurement& row : rows) {
    const bool old = row.provenance.when < older_than;
    // A failed check is what keeps a wrong kernel out, so age alone does not remove it.
    const bool wrong = row.check && !row.check->passed;
    const bool goes = newest.at(subject_of(row)) != &row || (old && !wrong) ||
                      (failures && row.evidence == Evidence::kFailed);
    if (goes && answers.count(row_checksum(columns_of(row))) == 0) superfluous.push_back(row);
  }
  return superfluous;
}

}  // namespace heddle
