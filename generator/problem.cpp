#include "generator/problem.hpp"

#include <algorithm>
#include <cmath>

#include "templates/warpgroup_layout.cuh"

namespace heddle {

void require(const std::optional<Rejection>& rejection) {
  if (!rejection) return;
  const auto code = rejection->unsupported ? ErrorCode::kUnsupported : ErrorCode::kInvalidArgument;
  throw Error(code, rejection->field, rejection->reason);
}

Strides resolved_strides(const Strides& strides, int heads, int rows, int columns) {
  if (!strides.is_default()) return strides;
  const long long head = static_cast<long long>(rows) * columns;
  return {.batch = heads * head, .head = head, .row = columns};
}

MatrixExtent value_extent(const Problem& problem) {
  const int keys = problem.sizes.seqlen_kv;
  const int columns = problem.variant.head_dim;
  if (problem.variant.value_layout == ValueLayout::kRows) return {keys, columns};
  // Whole groups, one at least: rows without a length have no tensor map, and neither have more
  // than INT_MAX - 15 keys (reject_strides).
  const int groups = keys / kKeyGroup + (keys % kKeyGroup != 0 ? 1 : 0);
  return {columns, std::max(groups, 1) * kKeyGroup};
}

double resolved_scale(const Variant& variant, const Sizes& sizes) {
  return sizes.scale == 0 ? 1.0 / std::sqrt(static_cast<double>(variant.head_dim)) : sizes.scale;
}

bool is_empty(const Sizes& sizes) {
  return sizes.batch == 0 || sizes.heads == 0 || sizes.seqlen_q == 0;
}

namespace {

/// Pairs of one head that the mask lets see each other. Whole numbers below 2^62: exact.
long long visible_pairs(MaskKind mask, long long seqlen_q, long long seqlen_kv) {
  if (mask == MaskKind::kFull) return seqlen_q * seqlen_kv;
  // Bottom-right alignment: the last query sees every key, each earlier one a key less. Queries
  // that come out below zero see nothing, which leaves a triangle of seqlen_kv rows.
  const long long triangle = seqlen_q < seqlen_kv ? seqlen_q : seqlen_kv;
  const long long before = seqlen_kv - triangle;
  return triangle * before + triangle * (triangle + 1) / 2;
}

}  // namespace

double flop_count(const Problem& problem) {
  const Sizes& sizes = problem.sizes;
  if (is_empty(sizes)) return 0;
  const auto pairs = visible_pairs(problem.variant.mask, sizes.seqlen_q, sizes.seqlen_kv);
  const double heads = static_cast<double>(sizes.batch) * sizes.heads;
  return 4.0 * heads * problem.variant.head_dim * static_cast<double>(pairs);
}

double minimal_bytes(const Problem& problem) {
  const Sizes& sizes = problem.sizes;
  if (is_empty(sizes)) return 0;
  const double query_rows = static_cast<double>(sizes.batch) * sizes.heads * sizes.seqlen_q;
  const double key_rows =
      static_cast<double>(sizes.batch) * sizes.resolved_kv_heads() * sizes.seqlen_kv;
  const int in = element_bytes(problem.variant.dtype);
  const int out = element_bytes(output_type(problem.variant));
  return problem.variant.head_dim * (query_rows * (in + out) + 2 * key_rows * in);
}

}  // namespace heddle
