#pragma once
// Bytes that cross HBM, tensor by tensor, with a model of what L2 keeps.

#include "generator/architecture.hpp"
#include "generator/problem_cut.hpp"

namespace heddle {

/// How often K and V come from HBM. A pass reads all keys that blocks running at the same time
/// need; what L2 has lost of them by the next pass is read again.
struct KeyValueReuse {
  double bytes_once = 0;   ///< K and V of all heads
  double passes = 1;       ///< over the keys of a head
  double working_set = 0;  ///< bytes of K and V of the heads that are read at the same time
  double usable_l2 = 0;    ///< bytes of L2 that they can have
  double lost = 0;         ///< share of the working set that L2 does not keep

  double bytes() const { return bytes_once * (1 + (passes - 1) * lost); }
};

struct HbmTraffic {
  double query = 0;
  double key_value = 0;
  double output = 0;
  double scores_written = 0, scores_read = 0;  ///< unfused's S, fp32
  double probabilities_written = 0, probabilities_read = 0;
  double partials_written = 0, partials_read = 0;  ///< what splits leave of O and its rows
  KeyValueReuse reuse;

  double total() const {
    return query + key_value + output + scores_written + scores_read + probabilities_written +
           probabilities_read + partials_written + partials_read;
  }
};

/// Where a part runs: how many blocks (pieces of work, where blocks walk several), and how many at
/// the same time.
struct Coverage {
  double blocks = 0;
  double slots = 1;
};

/// Of one launch.
HbmTraffic hbm_traffic(KernelPart part, const KernelConfig& config, const ProblemCut& cut,
                       int num_splits, const Coverage& coverage, const DeviceLimits& limits);

/// Share of their keys that blocks find lost from one pass to the next if each pass walks back from
/// where the one before ended (fa1's do), of a cache that replaces what was used longest ago and
/// can hold `kept` of what all of them walk over. What a block read x passes before its turn it
/// reads again x after it. The others, if they turn with it, have read x of theirs meanwhile, so
/// that all closer than `kept` is there still; at any other phase 2x - x^2 on average (they may
/// turn in it too), and the same bytes reach less far. `apart`: how far out of step they are, 0
/// to 1.
double lost_by_walking_back(double kept, double apart);

/// Entries of S that reach memory: whole key tiles, but no rows past the last query.
double score_count(const ProblemCut& cut);

}  // namespace heddle
