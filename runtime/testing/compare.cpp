#include "runtime/testing/compare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/testing/element.hpp"
#include "runtime/testing/layout.hpp"

namespace heddle {
namespace {

constexpr double kErrorFactor = 2.0;
constexpr double kRmsFactor = 1.2;
constexpr double kFloor = 1e-5;  // of the row's scale; absolute for LSE
constexpr double kLogitUlps = 4.0;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The distance to the next fp32 number above |value|.
double float_ulp(double value) {
  const float magnitude = std::abs(static_cast<float>(value));
  if (!std::isfinite(magnitude)) return 0;
  return static_cast<double>(std::nextafter(magnitude, std::numeric_limits<float>::infinity())) -
         static_cast<double>(magnitude);
}

bool opposite_infinities(double actual, double expected) {
  return std::isinf(actual) && std::isinf(expected) && actual != expected;
}

class Comparer {
 public:
  Comparer(const Problem& problem, const AttentionResult& reference,
           const AttentionResult& baseline)
      : problem_(problem),
        shape_(query_shape(problem)),
        rows_(static_cast<std::size_t>(shape_.batch) * shape_.heads * shape_.rows),
        reference_(reference),
        baseline_(baseline) {
    result_.record.sizes = canonical_text(problem.sizes);
  }

  Comparison run(const std::vector<std::uint16_t>& output, const std::vector<float>& log_sum_exp) {
    if (check_extents(output.size(), log_sum_exp.size())) {
      measure_baseline();
      for (std::size_t row = 0; row < rows_; ++row) {
        compare_log_sum_exp(row, static_cast<double>(log_sum_exp[row]));
        compare_row(row, output);
      }
      compare_rms();
    }
    result_.record.passed = result_.explanation.empty();
    return std::move(result_);
  }

 private:
  /// Only the first failure is explained; the figures keep being gathered.
  void fail(const std::string& explanation) {
    if (result_.explanation.empty()) result_.explanation = explanation;
  }

  bool check_extents(std::size_t output_elements, std::size_t rows) {
    const auto expect = [&](const char* name, std::size_t actual, std::size_t expected) {
      if (actual == expected) return;
      fail(std::string(name) + " has " + std::to_string(actual) + " elements, the problem says " +
           std::to_string(expected));
    };
    if (shape_.elements() == 0) fail("nothing to compare: the problem has no output element");
    expect("O", output_elements, shape_.elements());
    expect("LSE", rows, rows_);
    expect("the reference's O", reference_.output.size(), shape_.elements());
    expect("the reference's LSE", reference_.log_sum_exp.size(), rows_);
    expect("the baseline's O", baseline_.output.size(), shape_.elements());
    if (!reference_.largest_logit.empty()) {
      expect("the reference's largest_logit", reference_.largest_logit.size(), rows_);
    }
    if (!reference_.cut_error.empty()) {
      expect("the reference's cut_error", reference_.cut_error.size(), rows_);
    }
    return result_.explanation.empty();
  }

  double row_scale(std::size_t row) const {
    double scale = 0;
    for (int column = 0; column < shape_.columns; ++column) {
      const double value = std::abs(reference_.output[row * shape_.columns + column]);
      if (std::isfinite(value)) scale = std::max(scale, value);
    }
    return scale;
  }

  void measure_baseline() {
    double squares = 0;
    for (std::size_t i = 0; i < reference_.output.size(); ++i) {
      if (!std::isfinite(reference_.output[i])) continue;
      const double error = std::abs(baseline_.output[i] - reference_.output[i]);
      // Without a finite yardstick every output would pass.
      if (!std::isfinite(error)) {
        fail("the baseline is not finite at " + place(i) + " although the reference is");
      }
      result_.record.baseline_max_error = std::max(result_.record.baseline_max_error, error);
      squares += error * error;
      ++finite_elements_;
    }
    if (finite_elements_ == 0) return;
    result_.record.baseline_rms_error = std::sqrt(squares / static_cast<double>(finite_elements_));
  }

  void compare_log_sum_exp(std::size_t row, double actual) {
    const double expected = reference_.log_sum_exp[row];
    const double error = std::abs(actual - expected);
    const bool both_special = std::isnan(expected) ? std::isnan(actual) : actual == expected;
    if (!std::isfinite(expected) && both_special) return;
    const double logit =
        reference_.largest_logit.empty() ? expected : reference_.largest_logit[row];
    double allowed = allowed_log_sum_exp_error(logit);
    if (!reference_.cut_error.empty()) allowed += reference_.cut_error[row];
    result_.record.lse_error =
        std::max(result_.record.lse_error, std::isnan(error) ? kInfinity : error);
    if (error <= allowed) return;  // false for NaN
    fail("LSE" + row_place(row) + " = " + value_text(actual) + ", the reference says " +
         value_text(expected) + " (allowed error " + value_text(allowed) + ")");
  }

  void compare_row(std::size_t row, const std::vector<std::uint16_t>& output) {
    const bool row_is_nan = std::isnan(reference_.log_sum_exp[row]);
    const bool row_is_empty = reference_.log_sum_exp[row] == -kInfinity;
    const double scale = row_scale(row);
    const double allowed =
        row_is_empty ? 0 : kErrorFactor * result_.record.baseline_max_error + kFloor * scale;
    for (int column = 0; column < shape_.columns; ++column) {
      const std::size_t i = row * shape_.columns + column;
      const double actual =
          static_cast<double>(element_to_float(output_type(problem_.variant), output[i]));
      const double expected = reference_.output[i];
      if (!std::isfinite(expected)) {
        const bool wrong = row_is_nan
                               ? !std::isnan(actual)
                               : std::isfinite(actual) || opposite_infinities(actual, expected);
        if (wrong) fail_element(i, actual, "");
        continue;
      }
      const double error = std::isfinite(actual) ? std::abs(actual - expected) : kInfinity;
      result_.record.max_error = std::max(result_.record.max_error, error);
      squares_ += error * error;
      scale_squares_ += scale * scale;
      if (!(error <= allowed)) {
        fail_element(i, actual, " (allowed error " + value_text(allowed) + ")");
      }
    }
  }

  void compare_rms() {
    if (finite_elements_ == 0) return;
    CheckRecord& record = result_.record;
    const auto count = static_cast<double>(finite_elements_);
    record.rms_error = std::sqrt(squares_ / count);
    const double allowed =
        kRmsFactor * record.baseline_rms_error + kFloor * std::sqrt(scale_squares_ / count);
    if (record.rms_error <= allowed) return;
    fail("RMS error of O is " + value_text(record.rms_error) + ", allowed " + value_text(allowed) +
         " (the baseline's is " + value_text(record.baseline_rms_error) + ")");
  }

  void fail_element(std::size_t element, double actual, const std::string& allowed) {
    if (!result_.explanation.empty()) return;  // the text is costly where all elements are wrong
    fail("O" + place(element) + " = " + value_text(actual) + ", the reference says " +
         value_text(reference_.output[element]) + allowed);
  }

  std::string row_text(std::size_t row) const {
    const std::size_t head = row / shape_.rows;
    return "batch " + std::to_string(head / shape_.heads) + ", head " +
           std::to_string(head % shape_.heads) + ", query " + std::to_string(row % shape_.rows);
  }
  std::string row_place(std::size_t row) const { return "[" + row_text(row) + "]"; }
  std::string place(std::size_t element) const {
    return "[" + row_text(element / shape_.columns) + ", column " +
           std::to_string(element % shape_.columns) + "]";
  }

  const Problem& problem_;
  const TensorShape shape_;
  const std::size_t rows_;
  const AttentionResult& reference_;
  const AttentionResult& baseline_;
  Comparison result_;
  std::size_t finite_elements_ = 0;  ///< of the reference
  double squares_ = 0, scale_squares_ = 0;
};

}  // namespace

double allowed_log_sum_exp_error(double largest_logit) {
  return kFloor + kLogitUlps * float_ulp(largest_logit);
}

Comparison compare(const Problem& problem, const AttentionResult& reference,
                   const AttentionResult& baseline, const std::vector<std::uint16_t>& output,
                   const std::vector<float>& log_sum_exp) {
  return Comparer(problem, reference, baseline).run(output, log_sum_exp);
}

}  // namespace heddle
