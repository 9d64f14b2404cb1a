#include "cli/end_to_end.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/testing/element.hpp"

namespace heddle {

EndToEndError end_to_end_error(const AttentionInput& original, const Problem& quantised,
                               const AttentionResult& reference,
                               const std::vector<std::uint16_t>& output,
                               const std::vector<float>& log_sum_exp) {
  const AttentionResult exact =
      reference_attention(original.problem, original.tensors, ReferenceMode::kFloat64);
  const DataType type = output_type(quantised.variant);
  EndToEndError error;
  double squares = 0, rounding_squares = 0, output_squares = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < exact.output.size(); ++i) {
    if (!std::isfinite(exact.output[i])) continue;
    const auto actual = static_cast<double>(element_to_float(type, output[i]));
    const double off = std::abs(actual - exact.output[i]);
    error.max_error = std::max(error.max_error, off);
    squares += off * off;
    rounding_squares += std::pow(reference.output[i] - exact.output[i], 2);
    output_squares += exact.output[i] * exact.output[i];
    ++count;
  }
  for (std::size_t row = 0; row < exact.log_sum_exp.size(); ++row) {
    if (!std::isfinite(exact.log_sum_exp[row])) continue;
    const double off = std::abs(static_cast<double>(log_sum_exp[row]) - exact.log_sum_exp[row]);
    error.log_sum_exp_error = std::max(error.log_sum_exp_error, off);
  }
  const auto mean = [count](double sum) {
    return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
  };
  error.rms_error = mean(squares);
  error.rounding_rms_error = mean(rounding_squares);
  error.output_rms = mean(output_squares);
  return error;
}

}  // namespace heddle
