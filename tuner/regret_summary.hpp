#pragma once
// What searching would have cost on recorded problems: how far what each way of choosing picks is
// from the best there is.

#include "tuner/replay.hpp"

namespace heddle {

/// Leaves what may be tried today in the families that were recorded, their default included, and
/// sets `legal` to how many configs that are.
void keep_legal(Recording& recording);

/// Regrets are costs over the best there is, minus 1.
struct ProblemRegret {
  std::string problem;
  int legal = 0;  ///< when it was recorded; 0 = not known
  int configs = 0;
  int failed = 0;
  int fewest_samples = 0;  ///< of those that did not fail
  KernelConfig best;
  double by_default = 0;  ///< base_config()'s; infinity = it failed, or is not there
  double predicted_first = 0;
  double predicted_eight = 0;
  struct ByStrategy {
    double tried = 0;  ///< configs, mean over the seeds
    double mean = 0;
    double worst = 0;
  };
  ByStrategy ranked, local, random;
};

ProblemRegret problem_regret(const Recording& recording);

struct RegretSummary {
  std::vector<ProblemRegret> problems;
  double ranked_mean = 0, ranked_worst = 0;
  double local_mean = 0, local_worst = 0;
  double predicted_first_mean = 0;
  double eight_near_share = 0;  ///< of problems whose best eight predicted hold one near the best
};
/// "Near" of the predicted eight.
inline constexpr double kPredictedNear = 0.05;

RegretSummary summarise(const std::vector<Recording>& recordings);

}  // namespace heddle
