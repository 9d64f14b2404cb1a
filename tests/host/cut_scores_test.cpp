// Scores of 8-bit elements in the references' baseline: what the CPU's twin of the tensor core
// makes of them, to the bit.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "runtime/host/product_sum.hpp"
#include "runtime/testing/cut_scores.hpp"

namespace heddle {
namespace {

constexpr int kDepth = 32;

/// Numbers of e4m3, subnormals and zeros among them.
std::vector<float> random_elements(std::mt19937& random, int count) {
  std::uniform_int_distribution<unsigned> bits(0, 255);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) {
    do number = element_value(bits(random), host::WarpOperation::kMultiplyE4m3);
    while (std::isnan(number));
  }
  return numbers;
}

/// The same dot product, an instruction after the other.
float chained(const float* query, const float* keys, int lane, int head_dim) {
  float sum = 0;
  for (int first = 0; first < head_dim; first += kDepth) {
    std::array<double, kDepth> a{}, b{}, a_powers{}, b_powers{};
    for (int k = 0; k < kDepth && first + k < head_dim; ++k) {
      const auto at = static_cast<std::size_t>(k);
      a[at] = query[first + k];
      b[at] = keys[(first + k) * kCutLanes + lane];
      a_powers[at] = leading_power(a[at]);
      b_powers[at] = leading_power(b[at]);
    }
    sum = AlignedSum(kKeptBits8, kDepth)(sum, a.data(), a_powers.data(), b.data(), b_powers.data());
  }
  return sum;
}

std::array<float, kCutLanes> cut(const std::vector<float>& query, const std::vector<float>& keys) {
  std::vector<float> query_powers(query.size()), key_powers(keys.size());
  const int head_dim = static_cast<int>(query.size());
  leading_powers(query.data(), head_dim, query_powers.data());
  leading_powers(keys.data(), static_cast<int>(keys.size()), key_powers.data());
  std::array<float, kCutLanes> scores{};
  cut_dots({query.data(), query_powers.data(), 1}, {keys.data(), key_powers.data(), kCutLanes},
           head_dim, scores.data());
  return scores;
}

}  // namespace

TEST_CASE("the baseline's 8-bit scores are the tensor core's") {
  std::mt19937 random(20261130);
  int cut_scores = 0;
  for (const int head_dim : {16, 32, 48, 96, 128, 256}) {
    for (int round = 0; round < 50; ++round) {
      auto query = random_elements(random, head_dim);
      auto keys = random_elements(random, head_dim * kCutLanes);
      if (round % 2 == 1) query[0] = 448, keys[3] = 448;  // beside which others are cut
      const auto scores = cut(query, keys);
      for (int lane = 0; lane < kCutLanes; ++lane) {
        double exact = 0;
        for (int c = 0; c < head_dim; ++c) {
          const auto column = static_cast<std::size_t>(c);
          exact += static_cast<double>(query[column]) * keys[column * kCutLanes + lane];
        }
        const float score = scores[static_cast<std::size_t>(lane)];
        CHECK(score == chained(query.data(), keys.data(), lane, head_dim));
        cut_scores += score != exact ? 1 : 0;
      }
    }
  }
  CHECK(cut_scores > 1000);
}

TEST_CASE("NaN stays NaN in the baseline's 8-bit scores, and disturbs no other key") {
  std::mt19937 random(7);
  const auto query = random_elements(random, 64);
  auto keys = random_elements(random, 64 * kCutLanes);
  const auto before = cut(query, keys);
  keys[40 * kCutLanes + 5] = std::numeric_limits<float>::quiet_NaN();
  const auto scores = cut(query, keys);
  for (std::size_t lane = 0; lane < kCutLanes; ++lane) {
    if (lane == 5) {
      CHECK(std::isnan(scores[lane]));
    } else {
      CHECK(scores[lane] == before[lane]);
    }
  }
}

}  // namespace heddle
