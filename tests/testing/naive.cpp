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

  /// V's element, wherever value_layout has it.
  long double value(long long key, long long column) const {
    const Sizes& sizes = problem.sizes;
    if (problem.variant.value_layout == ValueLayout::kRows) {
      return element(tensors.value, sizes.value_strides, {batch, kv_head(), key, column});
    }
    // Of each 16 keys, the places of 0, 1, 2 ... 15.
    constexpr int kPlaces[] = {0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15};
    const long long places = (sizes.seqlen_kv + 15) / 16 * 16;
    const long long place = key / 16 * 16 + kPlaces[key % 16];
    Strides strides = sizes.value_strides;
    if (strides.is_default()) {
      strides.row = places;
      strides.head = places * problem.variant.head_dim;
      strides.batch = strides.head * sizes.resolved_kv_heads();
    }
    const long long at = batch * strides.batch + kv_head() * strides.head + column * strides.row;
    return element_to_float(problem.variant.dtype, tensors.value.at(at + place));
  }

  /// The scale of a row of Q or K: `heads` and `rows` are its tensor's.
  long double scale(const std::vector<float>& scales, long long of_head, long long row,
                    long long heads, long long rows) const {
    if (scales.empty()) return 1;
    const long long index = batch * heads + of_head;
    switch (problem.variant.scales) {
      case ScaleKind::kTensor:
        return scales.at(0);
      case ScaleKind::kHead:
        return scales.at(index);
      case ScaleKind::kBlock:
        return scales.at(index * ((rows + 127) / 128) + row / 128);
      case ScaleKind::kToken:
        break;
    }
    return scales.at(index * rows + row);
  }

  long double value_scale() const {
    const std::vector<float>& scales = tensors.scales.value_descale;
    if (scales.empty()) return 1;
    if (problem.variant.scales == ScaleKind::kTensor) return scales.at(0);
    return scales.at(batch * problem.sizes.resolved_kv_heads() + kv_head());
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
    const HostScales& scales = tensors.scales;
    return dot * scale *
           this->scale(scales.query_descale, head, query, sizes.heads, sizes.seqlen_q) *
           this->scale(scales.key_descale, kv_head(), key, sizes.resolved_kv_heads(),
                       sizes.seqlen_kv);
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
    const HostScales& scales = tensors.scales;
    if (!scales.log_sum_exp_shift.empty()) {
      log_sum_exp +=
          scales.log_sum_exp_shift.at((batch * sizes.heads + head) * sizes.seqlen_q + query);
    }
    for (long long c = 0; c < problem.variant.head_dim; ++c) {
      long double value = 0;
      for (long long key = 0; key < sizes.seqlen_kv; ++key) {
        if (!visible(key)) continue;
        const long double p = sum == 0 ? 0 : logits[key] / sum;
        value += p * this->value(key, c) * value_scale();
      }
      const long long mean =
          (batch * sizes.resolved_kv_heads() + kv_head()) * problem.variant.head_dim + c;
      if (sum != 0 && !scales.value_mean.empty()) value += scales.value_mean.at(mean);
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
