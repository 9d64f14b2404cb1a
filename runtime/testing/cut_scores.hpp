#pragma once
// What Hopper's tensor cores make of dot products of 8-bit elements. Where they add products, 32
// and the sum so far at a time, each is aligned to the largest and cut, towards zero, at 2^-13 of
// it, and so is their sum at 2^-13 of itself.

namespace heddle {

constexpr int kCutLanes = 16;  ///< keys that are worked on at a time

/// The power of two of each number's leading bit; 0 for 0 and NaN.
void leading_powers(const float* numbers, int count, float* powers);

/// Numbers beside their leading powers: those of consecutive columns are `stride` apart.
struct PoweredNumbers {
  const float* numbers;
  const float* powers;
  int stride;
};

/// The raw scores of a query with kCutLanes neighbouring keys, so computed. A product's power of
/// two is that of its factors, even where its mantissa passes 2.
void cut_dots(const PoweredNumbers& query, const PoweredNumbers& keys, int head_dim, float* scores);

/// How far that may put a logit off: products lose half a cut on average, each by its own sign, and
/// what they lose is spread evenly over a cut.
struct LogitCut {
  double deviation;
  double bias;
};

/// Of a query and a key, whose columns are `key_stride` apart.
LogitCut logit_cut(const double* query, const double* key, int key_stride, int head_dim,
                   double scale);

}  // namespace heddle
