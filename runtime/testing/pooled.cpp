#include "runtime/testing/pooled.hpp"

#include <algorithm>
#include <cmath>

namespace heddle {
namespace {

/// Keys that more sequences may not pass.
constexpr double kMostKeyElements = 1 << 26;

bool has_strides(const Sizes& sizes) {
  return !sizes.query_strides.is_default() || !sizes.key_strides.is_default() ||
         !sizes.value_strides.is_default() || !sizes.output_strides.is_default();
}

}  // namespace

Problem with_pooled_outputs(Problem problem) {
  Sizes& sizes = problem.sizes;
  const double columns = problem.variant.head_dim;
  const double outputs = columns * sizes.heads * sizes.seqlen_q;
  const double keys = columns * sizes.resolved_kv_heads() * sizes.seqlen_kv;
  if (has_strides(sizes) || outputs * sizes.batch == 0) return problem;
  const double wanted = std::ceil(kFewestOutputs / outputs);
  const double affordable = std::floor(kMostKeyElements / std::max(1.0, keys));
  sizes.batch = std::max(sizes.batch, static_cast<int>(std::min(wanted, affordable)));
  return problem;
}

}  // namespace heddle
