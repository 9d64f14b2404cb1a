#include "tests/testing/naive.hpp"

#include <cmath>
#include <limits>

#include "runtime/testing/element.hpp"

namespace heddle {
namespace {

struct NaiveRow {
  const Problem& problem;
  const HostTensors& tensors;
  long long batch, head, query;

  /// Contiguous or as the strides say.
  long double element(const std::vector<std::uint16_t>& storage, Strides strides,
                      const long long (&index)[4]) const {
    if (strides.is_default()) {
      const bool is_query = &storage == &tensors.query;
      const Sizes& sizes = problem.sizes;
      const long long rows = is_query ? sizes.seqlen_q : sizes.seqlen_kv;
      const long long heads = is_query ? sizes.heads : sizes.resolved_kv_heads();
      strides.row = problem.variant.head_dim;
      strides.head = strides.row * rows;
      strides.batch = strides.head * heads;
    }
    const long long at =
        index[0] * strides.batch + index[1] * strides.head + index[2] * strides.row + index[3];
    return element_to_float(problem.variant.dtype, storage.at(at));
  }

  long long kv_head() const {
    return head / (problem.sizes.heads / problem.sizes.resolved_kv_heads());
  }

  bool visible(long long key) const {
    return problem.variant.mask == MaskKind::kFull ||
           key <= query + problem.sizes.seqlen_kv - problem.sizes.seqlen_q;
  }

  long double logit(long long key) const {
    const Sizes& sizes = problem.sizes;
    long double dot = 0;
    for (long long c = 0; c < problem.variant.head_dim; ++c) {
      dot += element(tensors.query, sizes.query_strides, {batch, head, query, c}) *
             element(tensors.key, sizes.key_strides, {batch, kv_head(), key, c});
    }
    const double scale = sizes.scale != 0 ? sizes.scale : 1 / std::sqrt(problem.variant.head_dim);
    return dot * scale;
  }

  void solve(double* output, double& log_sum_exp) const {
    const Sizes& sizes = problem.sizes;
    long double maximum = -std::numeric_limits<long double>::infinity();
    std::vector<long double> logits(sizes.seqlen_kv);
    for (long long key = 0; key < sizes.seqlen_kv; ++key) {
      if (visible(key)) logits[key] = logit(key);
      if (visible(key) && logits[key] > maximum) maximum = logits[key];
    }
    // Any finite shift is right where every logit is -inf.
    const long double shift = std::isinf(maximum) && maximum < 0 ? 0 : maximum;
    long double sum = 0;
    for (long long key = 0; key < sizes.seqlen_kv; ++key) {
      if (visible(key)) sum += logits[key] = std::exp(logits[key] - shift);
    }
    log_sum_exp = static_cast<double>(shift + std::log(sum));
    for (long long c = 0; c < problem.variant.head_dim; ++c) {
      long double value = 0;
      for (long long key = 0; key < sizes.seqlen_kv; ++key) {
        if (!visible(key)) continue;
        const long double p = sum == 0 ? 0 : logits[key] / sum;
        value += p * element(tensors.value, sizes.value_strides, {batch, kv_head(), key, c});
      }
      output[c] = static_cast<double>(value);
    }
  }
};

}  // namespace

AttentionResult naive_attention(const Problem& problem, const HostTensors& tensors) {
  const Sizes& sizes = problem.sizes;
  const long long rows = static_cast<long long>(sizes.batch) * sizes.heads * sizes.seqlen_q;
  AttentionResult result;
  result.output.resize(rows * problem.variant.head_dim);
  result.log_sum_exp.resize(rows);
  for (long long row = 0; row < rows; ++row) {
    const long long head = row / sizes.seqlen_q;
    NaiveRow{problem, tensors, head / sizes.heads, head % sizes.heads, row % sizes.seqlen_q}.solve(
        &result.output[row * problem.variant.head_dim], result.log_sum_exp[row]);
  }
  return result;
}

bool close(double actual, double expected, double tolerance) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return actual == expected;
  return std::abs(actual - expected) <= tolerance * std::max(1.0, std::abs(expected));
}

}  // namespace heddle
