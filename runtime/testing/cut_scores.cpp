#include "runtime/testing/cut_scores.hpp"

#include <algorithm>
#include <cmath>

namespace heddle {
namespace {

constexpr int kDepth = 32;  // columns of one instruction
constexpr float kKept = 0x1p13f;
/// Below any product of numbers of e4m3 but 0: nothing is divided by 0.
constexpr float kLeast = 0x1p-60f;

/// Cut towards zero. Whatever NaN becomes.
float whole_part(float number) {
  constexpr float kMost = 0x1p20f;
  return static_cast<float>(static_cast<int>(std::max(-kMost, number)));
}

float leading_power(float number) {
  if (number == 0.0f || !std::isfinite(number)) return 0.0f;
  return std::ldexp(1.0f, std::ilogb(number));
}

/// Of `scores` and the products of columns [begin, end): their sum as one instruction leaves it.
void add_step(const PoweredNumbers& query, const PoweredNumbers& keys, int begin, int end,
              float* scores) {
  float largest[kCutLanes];
  for (int lane = 0; lane < kCutLanes; ++lane) {
    largest[lane] = std::max(leading_power(scores[lane]), kLeast);
  }
  for (int column = begin; column < end; ++column) {
    const float power = query.powers[column * query.stride];
    const float* others = keys.powers + column * keys.stride;
    for (int lane = 0; lane < kCutLanes; ++lane) {
      largest[lane] = std::max(largest[lane], power * others[lane]);
    }
  }
  float units[kCutLanes];  // whole numbers below 2^21, so that fp32 adds them exactly
  for (int lane = 0; lane < kCutLanes; ++lane) {
    largest[lane] = kKept / largest[lane];
    units[lane] = whole_part(scores[lane] * largest[lane]);
  }
  for (int column = begin; column < end; ++column) {
    const float number = query.numbers[column * query.stride];
    const float* others = keys.numbers + column * keys.stride;
    for (int lane = 0; lane < kCutLanes; ++lane) {
      units[lane] += whole_part(number * others[lane] * largest[lane]);
    }
  }
  for (int lane = 0; lane < kCutLanes; ++lane) {
    const float kept = kKept / std::max(leading_power(units[lane]), kKept);
    scores[lane] = whole_part(units[lane] * kept) / kept / largest[lane];
  }
}

}  // namespace

void leading_powers(const float* numbers, int count, float* powers) {
  std::transform(numbers, numbers + count, powers, leading_power);
}

void cut_dots(const PoweredNumbers& query, const PoweredNumbers& keys, int head_dim,
              float* scores) {
  float plain[kCutLanes] = {};
  for (int column = 0; column < head_dim; ++column) {
    const float number = query.numbers[column * query.stride];
    const float* others = keys.numbers + column * keys.stride;
    for (int lane = 0; lane < kCutLanes; ++lane) plain[lane] += number * others[lane];
  }
  std::fill_n(scores, kCutLanes, 0.0f);
  // NaN is no whole number: it is put back afterwards, and until then stands for nothing.
  for (int begin = 0; begin < head_dim; begin += kDepth) {
    add_step(query, keys, begin, std::min(begin + kDepth, head_dim), scores);
  }
  for (int lane = 0; lane < kCutLanes; ++lane) {
    if (std::isnan(plain[lane])) scores[lane] = plain[lane];
  }
}

LogitCut logit_cut(const double* query, const double* key, int key_stride, int head_dim,
                   double scale) {
  double sum = 0;
  double largest = 0;
  int signs = 0;
  for (int column = 0; column < head_dim; ++column) {
    const double product = query[column] * key[static_cast<long long>(column) * key_stride];
    sum += product;
    largest = std::max(largest, std::abs(product));
    signs += product > 0 ? 1 : (product < 0 ? -1 : 0);
  }
  const int steps = (head_dim + kDepth - 1) / kDepth;
  const double cut = std::max(largest, std::abs(sum)) * scale / static_cast<double>(kKept);
  return {cut * std::sqrt((head_dim + steps) / 3.0), cut / 2 * (std::abs(signs) + steps)};
}

}  // namespace heddle
