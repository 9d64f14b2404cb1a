#pragma once
// What the tests of checked sums share: logits that rise, jump or stand out as they are asked to,
// and kernels that look at them.

#include <functional>
#include <vector>

#include "runtime/host/verify.hpp"

namespace heddle {

constexpr int kColumns = 64;
constexpr int kBlock = 16;  ///< keys
constexpr int kKeys = 20 * kBlock - 3;
constexpr int kQueries = 70;  ///< a tile, and rows of another

/// The wanted logit of a query and the key that is the `visited`th to be met: fa3 walks from the
/// last key to the first.
using Logit = std::function<double(int query, int visited)>;

Problem checked_sum_problem(DataType dtype, MaskKind mask);
KernelConfig checked_sum_config(RunningMax running_max);

/// Query i is the unit vector i modulo 64, so that its logits are a column of K.
HostTensors tensors_of(const Problem& problem, const Logit& logit);

/// Between -1 and 1, another one for each pair.
double noise(int query, int visited);
Logit rising(double per_block);
/// From some block on `height` higher, for good or for one key alone.
Logit jumping(double height, int every, bool for_good);

struct Named {
  const char* name;
  Logit logit;
};
const std::vector<Named>& named_logits();

HostCompiler& checked_sum_compiler();
HostVerdict verify_checked_sum(const Problem& problem, const HostTensors& tensors,
                               const KernelConfig& config);
/// Of checked_sum_config(); requires that no fault is found.
HostRun run_checked_sum(const Problem& problem, const HostTensors& tensors, RunningMax running_max);

}  // namespace heddle
