#pragma once
// What each ingredient of quantising to e4m3 is worth: the error of the fp32 baseline, which rounds
// what a kernel rounds, over quantised inputs, beside float64 over the inputs themselves.

#include <functional>
#include <string>
#include <vector>

#include "runtime/testing/quantise.hpp"

namespace heddle {

enum class InputDistribution {
  kOutliers,      ///< N(0, 1), one number in 1000 with N(0, 100) added, in Q, K and V
  kNormal,        ///< N(0, 1)
  kHeavyTails,    ///< Student's t with three degrees of freedom
  kLoudChannels,  ///< N(0, 1); three columns of Q and of K times 20
  kOffsets,       ///< N(0, 1); each column of K + 3 N(0, 1), of V + N(0, 1)
};
template <>
struct EnumNames<InputDistribution> {
  static constexpr std::array names{
      std::pair{InputDistribution::kOutliers, std::string_view("outliers")},
      std::pair{InputDistribution::kNormal, std::string_view("normal")},
      std::pair{InputDistribution::kHeavyTails, std::string_view("heavy_tails")},
      std::pair{InputDistribution::kLoudChannels, std::string_view("loud_channels")},
      std::pair{InputDistribution::kOffsets, std::string_view("offsets")}};
};

/// Numbers that fp16 holds exactly.
InputNumbers draw_numbers(const Problem& problem, InputDistribution distribution,
                          std::uint64_t seed);

/// A way to make attention's inputs smaller.
struct AccuracyRecipe {
  std::string name;
  Variant form;  ///< dtype and scales
  QuantiseRecipe quantise;
};
/// fp16 and bf16 to begin with; every kind of scales, with and without the rotation; the means.
std::vector<AccuracyRecipe> accuracy_recipes();

/// The RMS error of O of a recipe, by distribution.
struct AccuracyRow {
  std::string recipe;
  std::vector<double> rms_errors;
};
struct AccuracyTable {
  std::vector<double> output_rms;  ///< of O itself, by distribution
  std::vector<AccuracyRow> rows;
};
/// Of a problem's head_dim, mask and sizes. `progress` is told how many of how many errors are
/// there.
AccuracyTable measure_accuracy(const Problem& problem, std::uint64_t seed,
                               const std::function<void(int, int)>& progress);

}  // namespace heddle
