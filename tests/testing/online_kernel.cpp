#include "tests/testing/online_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/testing/element.hpp"

namespace heddle {
namespace {

constexpr int kTile = 64;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct RowState {
  float maximum = -kInfinity;
  float sum = 0;
  std::vector<float> accumulator;
};

/// One row meets one tile: logits[i] belongs to the key whose values start at values[i * columns].
void step(RowState& row, const std::vector<float>& logits, const float* values, DataType dtype) {
  const int columns = static_cast<int>(row.accumulator.size());
  const float tile_maximum = *std::max_element(logits.begin(), logits.end());
  const float maximum = std::max(row.maximum, tile_maximum);
  if (maximum == -kInfinity) return;
  const float factor = std::exp(row.maximum - maximum);
  row.maximum = maximum;
  row.sum *= factor;
  for (float& value : row.accumulator) value *= factor;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const float p = std::exp(logits[i] - maximum);
    row.sum += p;
    const float rounded = round_to_element(dtype, p);
    for (int c = 0; c < columns; ++c) row.accumulator[c] += rounded * values[i * columns + c];
  }
}

std::vector<float> widen(DataType dtype, const std::vector<std::uint16_t>& elements) {
  std::vector<float> values(elements.size());
  std::transform(elements.begin(), elements.end(), values.begin(),
                 [dtype](std::uint16_t bits) { return element_to_float(dtype, bits); });
  return values;
}

}  // namespace

KernelOutput online_kernel(const Problem& problem, const HostTensors& tensors) {
  const Sizes& sizes = problem.sizes;
  const DataType dtype = problem.variant.dtype;
  const int columns = problem.variant.head_dim;
  const auto scale = static_cast<float>(resolved_scale(problem.variant, sizes));
  const auto query = widen(dtype, tensors.query);
  const auto key = widen(dtype, tensors.key);
  const auto value = widen(dtype, tensors.value);
  KernelOutput result;
  const long long rows = static_cast<long long>(sizes.batch) * sizes.heads * sizes.seqlen_q;
  for (long long flat = 0; flat < rows; ++flat) {
    const long long head = flat / sizes.seqlen_q;
    const long long kv_base = head / (sizes.heads / sizes.resolved_kv_heads()) * sizes.seqlen_kv;
    const long long diagonal = flat % sizes.seqlen_q + sizes.seqlen_kv - sizes.seqlen_q + 1;
    const long long end = problem.variant.mask == MaskKind::kFull
                              ? sizes.seqlen_kv
                              : std::min<long long>(diagonal, sizes.seqlen_kv);
    RowState row{.accumulator = std::vector<float>(columns)};
    for (long long begin = 0; begin < end; begin += kTile) {
      std::vector<float> logits(std::min<long long>(kTile, end - begin));
      for (std::size_t i = 0; i < logits.size(); ++i) {
        const float* k = &key[(kv_base + begin + i) * columns];
        for (int c = 0; c < columns; ++c) logits[i] += query[flat * columns + c] * k[c];
        logits[i] *= scale;
      }
      step(row, logits, &value[(kv_base + begin) * columns], dtype);
    }
    for (const float sum : row.accumulator) {
      result.output.push_back(element_from_float(dtype, row.sum == 0 ? 0 : sum / row.sum));
    }
    result.log_sum_exp.push_back(row.maximum + std::log(row.sum));
  }
  return result;
}

}  // namespace heddle
