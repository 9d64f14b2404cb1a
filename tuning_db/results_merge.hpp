#pragma once
// What several databases say together, and what of one is no longer needed. Pure: rows in, rows
// out.

#include <string>
#include <vector>

#include "tuning_db/records.hpp"

namespace heddle {

/// Two databases have different winners for one place; the newer evidence wins.
struct MergeConflict {
  Measurement winner;
  Measurement other;
};
/// Between what stands in `ours` and in `theirs`, as their union decides.
std::vector<MergeConflict> merge_conflicts(const std::vector<Measurement>& ours,
                                           const std::vector<Measurement>& theirs);

/// Rows that could go without changing an answer (ResultsStore::prune).
std::vector<Measurement> superfluous_rows(const std::vector<Measurement>& rows, bool failures,
                                          const std::string& older_than);

}  // namespace heddle
