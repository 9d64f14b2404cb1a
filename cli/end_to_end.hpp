#pragma once
// What quantised inputs cost in all: a kernel's result beside attention over their originals.

#include <cstdint>
#include <vector>

#include "cli/npy.hpp"

namespace heddle {

/// Over the rows where the originals' reference is finite.
struct EndToEndError {
  double max_error = 0;
  double rms_error = 0;
  double rounding_rms_error = 0;  ///< of exact attention over the quantised inputs
  double output_rms = 0;          ///< of O itself
  double log_sum_exp_error = 0;
};

/// `output` in the type of `quantised`'s O, contiguous as `log_sum_exp` is; `reference` is that of
/// the quantised inputs.
EndToEndError end_to_end_error(const AttentionInput& original, const Problem& quantised,
                               const AttentionResult& reference,
                               const std::vector<std::uint16_t>& output,
                               const std::vector<float>& log_sum_exp);

}  // namespace heddle
