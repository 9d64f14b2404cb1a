// What the kernels of heddle compute, computed on the host in their place, so that checking,
// measuring and tuning run without a GPU. Which problem a kernel is for is read from its source's
// banner and from its parameters. Kernels named heddle_bad_KIND misbehave as
// tuner/bad_candidate.hpp says. Every kernel takes a virtual time of its own, the same on every
// run.

#include <unistd.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "runtime/testing/element.hpp"
#include "runtime/testing/layout.hpp"
#include "runtime/testing/reference.hpp"
#include "templates/mapped_parameters.cuh"
#include "tests/fake_driver/state.hpp"

namespace heddle::fake {
namespace {

constexpr double kSlowestSeconds = 80e-6;
constexpr double kBadSeconds = 1e-6;  ///< a wrong kernel is often the fastest

bool begins_with(const std::string& text, const std::string& front) {
  return text.compare(0, front.size(), front) == 0;
}

Strides strides_of(const TensorView& view) {
  return {view.batch_stride, view.head_stride, view.row_stride};
}

Problem problem_of(const FakeLaunch& launch, const AttentionParameters& parameters) {
  Problem problem;
  problem.variant = parse_canonical<Variant>(launch.variant);
  Sizes& sizes = problem.sizes;
  sizes.batch = parameters.batch;
  sizes.heads = parameters.heads;
  sizes.kv_heads = parameters.kv_heads;
  sizes.seqlen_q = parameters.seqlen_q;
  sizes.seqlen_kv = parameters.seqlen_kv;
  sizes.scale = parameters.scale;
  sizes.query_strides = strides_of(parameters.query);
  sizes.key_strides = strides_of(parameters.key);
  sizes.value_strides = strides_of(parameters.value);
  sizes.output_strides = strides_of(parameters.output);
  return problem;
}

std::vector<std::uint16_t> read_tensor(const TensorView& view, const TensorShape& shape) {
  std::vector<std::uint16_t> elements(storage_elements(strides_of(view), shape));
  std::memcpy(elements.data(), view.data, elements.size() * sizeof(std::uint16_t));
  return elements;
}

/// Timing launches the same kernels on the same inputs again and again.
const AttentionResult& result_of(const Problem& problem, const AttentionParameters& parameters,
                                 ReferenceMode mode) {
  static std::map<std::string, AttentionResult> known;
  const HostTensors tensors{read_tensor(parameters.query, query_shape(problem)),
                            read_tensor(parameters.key, key_value_shape(problem)),
                            read_tensor(parameters.value, key_value_shape(problem))};
  std::string key = canonical_text(problem.variant) + ' ' + canonical_text(problem.sizes) + ' ' +
                    std::to_string(static_cast<int>(mode));
  for (const auto* tensor : {&tensors.query, &tensors.key, &tensors.value}) {
    const auto* bytes = reinterpret_cast<const char*>(tensor->data());
    key += hash_text(std::string(bytes, tensor->size() * sizeof(std::uint16_t))).hex();
  }
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(key, reference_attention(problem, tensors, mode)).first->second;
}

void write_output(const Problem& problem, const AttentionParameters& parameters,
                  const AttentionResult& result, double log_sum_exp_offset) {
  const TensorShape shape = query_shape(problem);
  const Strides& strides = problem.sizes.output_strides;
  auto* output = static_cast<std::uint16_t*>(parameters.output.data);
  std::size_t next = 0;
  for (int batch = 0; batch < shape.batch; ++batch) {
    for (int head = 0; head < shape.heads; ++head) {
      for (int row = 0; row < shape.rows; ++row) {
        std::uint16_t* target =
            output + batch * strides.batch + head * strides.head + row * strides.row;
        for (int column = 0; column < shape.columns; ++column) {
          target[column] =
              element_from_float(problem.variant.dtype, static_cast<float>(result.output[next++]));
        }
      }
    }
  }
  if (parameters.log_sum_exp == nullptr) return;
  for (std::size_t i = 0; i < result.log_sum_exp.size(); ++i) {
    parameters.log_sum_exp[i] = static_cast<float>(result.log_sum_exp[i] + log_sum_exp_offset);
  }
}

/// Where the float64 reference leaves O and LSE (plan_launch and fill_parameters say so).
void write_reference(const AttentionParameters& parameters, const AttentionResult& result) {
  std::memcpy(parameters.partial_output, result.output.data(),
              result.output.size() * sizeof(double));
  std::memcpy(parameters.partial_rows, result.log_sum_exp.data(),
              result.log_sum_exp.size() * sizeof(double));
}

void attend(const FakeLaunch& launch, const AttentionParameters& parameters,
            double log_sum_exp_offset = 0) {
  const Problem problem = problem_of(launch, parameters);
  write_output(problem, parameters, result_of(problem, parameters, ReferenceMode::kFloat64),
               log_sum_exp_offset);
}

void run_reference_kernel(const FakeLaunch& launch, const AttentionParameters& parameters) {
  const Problem problem = problem_of(launch, parameters);
  const bool wants_double = parameters.partial_rows != nullptr;
  const auto mode = wants_double ? ReferenceMode::kFloat64 : ReferenceMode::kBaseline;
  const AttentionResult& result = result_of(problem, parameters, mode);
  if (wants_double) return write_reference(parameters, result);
  write_output(problem, parameters, result, 0);
}

/// The launch leaves its context as a fault on the device does.
void fault(const FakeLaunch& launch, DriverResult code) {
  static_cast<Context*>(launch.context)->sticky = code;
}

void write_past_end(const FakeLaunch& launch, const AttentionParameters& parameters) {
  const Problem problem = problem_of(launch, parameters);
  auto* output = static_cast<std::uint16_t*>(parameters.output.data);
  output[storage_elements(problem.sizes.output_strides, query_shape(problem))] = 0;
}

void misbehave(const FakeLaunch& launch, AttentionParameters parameters, const std::string& kind) {
  constexpr int kSkippedKeys = 16;
  if (kind == "never_writes") return;
  if (kind == "illegal_address") return fault(launch, kDriverIllegalAddress);
  if (kind == "trap") return fault(launch, kDriverLaunchFailed);
  while (kind == "infinite_loop") ::pause();
  if (kind == "ends_process") ::_exit(7);
  if (kind == "skips_last_tile" && parameters.seqlen_kv > kSkippedKeys) {
    parameters.seqlen_kv -= kSkippedKeys;
  }
  attend(launch, parameters, kind == "wrong_lse" ? std::numbers::ln2 : 0.0);
  if (kind == "writes_past_end") write_past_end(launch, parameters);
}

void spin(const FakeLaunch& launch) {
  struct {
    unsigned long long nanoseconds;
    unsigned long long* result;
  } parameters{};
  std::memcpy(&parameters, launch.parameters, sizeof parameters);
  constexpr unsigned long long kCyclesPerMicrosecond = 1755;
  parameters.result[0] = parameters.nanoseconds * kCyclesPerMicrosecond / 1000;
  parameters.result[1] = parameters.nanoseconds;
}

AttentionParameters parameters_of(const FakeLaunch& launch) {
  if (launch.parameter_bytes == sizeof(MappedParameters)) {
    MappedParameters mapped;
    std::memcpy(&mapped, launch.parameters, sizeof mapped);
    return mapped.attention;
  }
  AttentionParameters parameters;
  std::memcpy(&parameters, launch.parameters, sizeof parameters);
  return parameters;
}

double seconds_of(const FakeLaunch& launch) {
  const unsigned mixed = launch.block[0] * 31 + launch.shared_bytes / 64 + launch.grid[0] * 7;
  return kSlowestSeconds * (0.5 + 0.5 * (mixed % 97) / 97.0);
}

void run_kernel(const FakeLaunch* launch, void*) {
  const std::string kBad = "heddle_bad_";
  const std::string name = launch->kernel;
  state().launch_seconds = begins_with(name, kBad) ? kBadSeconds : seconds_of(*launch);
  if (name == "heddle_spin") return spin(*launch);
  const AttentionParameters parameters = parameters_of(*launch);
  if (begins_with(name, kBad)) return misbehave(*launch, parameters, name.substr(kBad.size()));
  if (name == "heddle_reference") return run_reference_kernel(*launch, parameters);
  // Of kernels that work together the last one does it all.
  const bool is_last = name == "heddle_unfused_output" || name == "heddle_split_combine" ||
                       (parameters.num_splits <= 1 && name.find("_attention") < name.size());
  if (is_last) attend(*launch, parameters);
}

[[maybe_unused]] const bool installed = [] {
  state().hook = state().usual_hook = run_kernel;
  return true;
}();

}  // namespace
}  // namespace heddle::fake
