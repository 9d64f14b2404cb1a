#include "runtime/host/verify.hpp"

#include <cstring>

#include <fmt/format.h>

#include "runtime/testing/layout.hpp"

namespace heddle {
namespace {

constexpr std::uint16_t kUntouched = 0xffff;  // what run_on_host fills O with

bool same_bits(const HostRun& left, const HostRun& right) {
  return left.output_storage == right.output_storage &&
         left.log_sum_exp.size() == right.log_sum_exp.size() &&
         std::memcmp(left.log_sum_exp.data(), right.log_sum_exp.data(),
                     left.log_sum_exp.size() * sizeof(float)) == 0;
}

/// Whether what lies between O's rows is as it was.
bool gaps_untouched(const Problem& problem, const HostRun& run) {
  const TensorShape shape = query_shape(problem);
  const Strides& strides = problem.sizes.output_strides;
  // A scatter of ones shows where rows are: its gaps hold a NaN pattern.
  const auto rows = scatter(std::vector<std::uint16_t>(shape.elements(), 1), strides, shape);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] != 1 && run.output_storage[i] != kUntouched) return false;
  }
  return true;
}

void fail(Comparison& comparison, std::string explanation) {
  comparison.record.passed = false;
  if (comparison.explanation.empty()) comparison.explanation = std::move(explanation);
}

}  // namespace

HostCase make_host_case(const Problem& problem, HostTensors tensors) {
  HostCase host_case{problem, std::move(tensors), {}, {}};
  host_case.reference = reference_attention(problem, host_case.tensors, ReferenceMode::kFloat64);
  host_case.baseline = reference_attention(problem, host_case.tensors, ReferenceMode::kBaseline);
  return host_case;
}

std::string HostVerdict::explain() const {
  std::string text;
  for (const HostFault& fault : faults) text += fault.describe() + '\n';
  return text + comparison.explanation;
}

HostVerdict verify_on_host(const HostCase& host_case, const HostConfig& config,
                           const DeviceLimits& limits, const HostVerifyOptions& options) {
  HostVerdict verdict;
  std::uint64_t seed = options.seed;
  bool first = true;
  for (const Landing landing : options.landings) {
    HostRun run = run_on_host(host_case.problem, config, limits, host_case.tensors,
                              {{seed++, landing}, options.cores});
    if (!run.faults.empty()) {
      verdict.faults = run.faults;
      fail(verdict.comparison,
           fmt::format("found with copies landing {} (seed {})", enum_name(landing), seed - 1));
      return verdict;
    }
    if (run.tile_counter != 0) {
      fail(verdict.comparison, fmt::format("the tile counter is left at {}", run.tile_counter));
      return verdict;
    }
    if (first) {
      verdict.comparison = compare(host_case.problem, host_case.reference, host_case.baseline,
                                   run.output, run.log_sum_exp);
      if (!gaps_untouched(host_case.problem, run)) {
        fail(verdict.comparison, "memory between the rows of O was written to");
      }
      verdict.run = std::move(run);
      first = false;
    } else if (!same_bits(run, verdict.run)) {
      fail(verdict.comparison, fmt::format("another schedule gives other bits (copies landing {}, "
                                           "seed {})",
                                           enum_name(landing), seed - 1));
    }
  }
  return verdict;
}

}  // namespace heddle
