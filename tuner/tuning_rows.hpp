#pragma once
// Between candidates and rows of the results database.

#include "tuner/candidate_list.hpp"
#include "tuner/tuner.hpp"

namespace heddle {

/// What all rows of one tuning share.
struct RowContext {
  const TuneTarget& target;
  Problem problem;
  std::string tuning;  ///< which run
  std::string command;
  bool predicted = false;
  bool warm = false;
  bool relative_to_default = true;  ///< else nobody knows what Candidate::relative means
};

/// `elapsed_seconds`: since the tuning began.
Measurement row_of(const RowContext& context, const Candidate& candidate, double elapsed_seconds);

/// What earlier runs of the same heddle, driver and NVRTC on this very problem have found: sets a
/// candidate's failure, or its check and `relative` to the list's default, and `known`. What others
/// have measured is a hint at most (near_winners).
void recall(const RowContext& context, CandidateList& list);

/// After recall(): what an earlier run of the same command chose for this problem, with the default
/// as it measured it. False = none has come to its end.
bool recall_choice(const RowContext& context, const CandidateList& list, TuneReport& report);

/// Configs that the database would answer here, nearest first: measured for this size by other
/// versions, for other sizes, on other devices.
std::vector<KernelConfig> near_winners(const TuneTarget& target, const Problem& problem);

std::string now_utc();

}  // namespace heddle
