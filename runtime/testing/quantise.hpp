#pragma once
// The quantiser's host reference: e4m3 inputs made from numbers, every step in float64.

#include <cstdint>

#include "runtime/testing/encode.hpp"

namespace heddle {

/// What is done to Q, K and V before they are rounded. None of it changes what attention gives but
/// for that rounding.
struct QuantiseRecipe {
  bool rotate = false;      ///< Q and K: random signs, then a Hadamard transform of their columns
  bool key_mean = false;    ///< taken off each column of a head of K, put on the log-sum-exp
  bool value_mean = false;  ///< taken off each column of a head of V, put on O
  std::uint32_t seed = 0;   ///< of the signs
};

/// What is to be rounded, in float64: [batch, head, row, column], V by rows.
struct PreparedInputs {
  std::vector<double> query, key, value;
  HostScales taken;  ///< the means and shifts; no scales yet
};
PreparedInputs prepare_inputs(const Problem& problem, const InputNumbers& numbers,
                              const QuantiseRecipe& recipe);

/// Contiguous tensors of a problem of e4m3 inputs, which says what shares a scale and how V lies.
/// A scale is the largest magnitude it is for over 448; 1 where all are 0.
HostTensors quantise(const Problem& problem, const InputNumbers& numbers,
                     const QuantiseRecipe& recipe);

}  // namespace heddle
