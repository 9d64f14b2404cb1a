#include "tuner/gate.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/testing/pooled.hpp"
#include "tuner/config_kernels.hpp"

namespace heddle {
namespace {

/// Enough heads that a wrong head stride shows, few enough that the reference stays quick.
constexpr int kCheckedSequences = 2;
constexpr int kCheckedKvHeads = 2;
constexpr int kRaggedLength = 333;
/// fp64 pairs (queries x keys x heads) above which one sequence and one KV head must do.
constexpr double kMostPairs = 1.5e9;

Problem check_problem(const Problem& tuned) {
  Problem problem = tuned;
  Sizes& sizes = problem.sizes;
  const int group = sizes.heads / std::max(1, sizes.resolved_kv_heads());
  int kv_heads = std::min(sizes.resolved_kv_heads(), kCheckedKvHeads);
  sizes.batch = std::min(sizes.batch, kCheckedSequences);
  const double pairs = static_cast<double>(sizes.seqlen_q) * sizes.seqlen_kv * group;
  if (pairs * kv_heads * sizes.batch > kMostPairs) kv_heads = sizes.batch = 1;
  sizes.heads = group * kv_heads;
  sizes.kv_heads = kv_heads;
  sizes.query_strides = sizes.key_strides = sizes.value_strides = sizes.output_strides = {};
  return with_pooled_outputs(problem);
}

/// The nearest odd length not above `length`: no tile divides it.
int odd_length(int length) {
  return std::max(1, length % 2 == 0 ? length - 1 : length);
}

Problem ragged_problem(const Problem& tuned) {
  Problem problem = check_problem(tuned);
  Sizes& sizes = problem.sizes;
  sizes.seqlen_q = odd_length(std::min(sizes.seqlen_q, kRaggedLength));
  sizes.seqlen_kv = odd_length(std::min(sizes.seqlen_kv, kRaggedLength + 2));
  return with_pooled_outputs(problem);
}

AttentionResult widen(const std::vector<std::uint16_t>& output, DataType type,
                      const std::vector<float>& log_sum_exp) {
  AttentionResult result;
  result.output.reserve(output.size());
  for (const std::uint16_t bits : output) result.output.push_back(element_to_float(type, bits));
  result.log_sum_exp.assign(log_sum_exp.begin(), log_sum_exp.end());
  return result;
}

KernelConfig reference_config(ReferenceKind kind) {
  KernelConfig config;
  config.family = Family::kReference;
  config.reference = kind;
  config.tile_m = config.tile_n = 32;
  return config;
}

/// Launches on the null stream and waits.
void run_once(const Device& device, const Problem& problem, const KernelConfig& config,
              const LoadedConfig& kernels, const ProblemBuffers& buffers) {
  device.make_current();
  const LaunchPlan plan = plan_launch(problem, config, device.limits());
  kernels.launch(plan, fill_parameters(problem, config, plan, buffers.pointers()), nullptr);
  device.synchronize();
}

AttentionResult run_reference(const Device& device, Compiler& compiler, const Problem& problem,
                              const HostTensors& tensors, ReferenceKind kind) {
  const KernelConfig config = reference_config(kind);
  const LaunchPlan plan = plan_launch(problem, config, device.limits());
  const auto compiled = compile_config(compiler, problem.variant, config, device.limits());
  const auto kernels = load_config(device, problem.variant, config, compiled);
  ProblemBuffers buffers(device, problem, plan.workspace_bytes);
  buffers.upload(tensors);
  run_once(device, problem, config, *kernels, buffers);
  if (kind == ReferenceKind::kBaseline) {
    return widen(buffers.output(), output_type(problem.variant), buffers.log_sum_exp());
  }
  const auto parameters = fill_parameters(problem, config, plan, buffers.pointers());
  const auto rows =
      static_cast<std::size_t>(problem.sizes.batch) * problem.sizes.heads * problem.sizes.seqlen_q;
  const auto columns = static_cast<std::size_t>(problem.variant.head_dim);
  std::vector<double> workspace(plan.workspace_bytes / sizeof(double));
  buffers.workspace().download(workspace.data(), plan.workspace_bytes);
  const auto* base = static_cast<const char*>(buffers.workspace().data());
  const auto lse_offset =
      static_cast<std::size_t>(reinterpret_cast<const char*>(parameters.partial_rows) - base);
  const auto lse = workspace.begin() + static_cast<std::ptrdiff_t>(lse_offset / sizeof(double));
  AttentionResult result;
  result.output.assign(workspace.begin(),
                       workspace.begin() + static_cast<std::ptrdiff_t>(rows * columns));
  const auto lse_end = lse + static_cast<std::ptrdiff_t>(rows);
  result.log_sum_exp.assign(lse, lse_end);
  if (problem.variant.dtype == DataType::kE4m3)
    result.cut_error.assign(lse_end, lse_end + static_cast<std::ptrdiff_t>(rows));
  return result;
}

/// As bits: a NaN equals itself.
bool same_bits(const std::vector<float>& left, const std::vector<float>& right) {
  return left.size() == right.size() &&
         std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0;
}

Comparison failed(std::string explanation) {
  Comparison comparison;
  comparison.explanation = std::move(explanation);
  return comparison;
}

}  // namespace

std::array<Problem, 2> gate_problems(const Problem& tuned) {
  return {check_problem(tuned), ragged_problem(tuned)};
}

std::vector<KernelConfig> reference_configs() {
  return {reference_config(ReferenceKind::kFloat64), reference_config(ReferenceKind::kBaseline)};
}

DeviceReference compute_reference(const Device& device, Compiler& compiler, const Problem& problem,
                                  const HostTensors& tensors) {
  return {run_reference(device, compiler, problem, tensors, ReferenceKind::kFloat64),
          run_reference(device, compiler, problem, tensors, ReferenceKind::kBaseline)};
}

Comparison verify_config(const Device& device, const VerifyCase& verify_case,
                         const KernelConfig& config, const LoadedConfig& kernels) {
  const Problem& problem = verify_case.problem;
  const LaunchPlan plan = plan_launch(problem, config, device.limits());
  ProblemBuffers buffers(device, problem, plan.workspace_bytes);
  buffers.upload(verify_case.tensors);
  run_once(device, problem, config, kernels, buffers);
  const auto output = buffers.output();
  const auto log_sum_exp = buffers.log_sum_exp();
  buffers.poison_outputs();
  run_once(device, problem, config, kernels, buffers);
  if (!buffers.guards_intact()) return failed(std::string(kGuardBandWritten));
  if (buffers.output() != output || !same_bits(buffers.log_sum_exp(), log_sum_exp)) {
    return failed("two runs on the same input differ");
  }
  Comparison comparison = compare(problem, verify_case.expected.reference,
                                  verify_case.expected.baseline, output, log_sum_exp);
  comparison.record.sizes = canonical_text(problem.sizes);
  return comparison;
}

struct Gate::Case {
  Problem problem;
  HostTensors tensors;
  DeviceReference expected;
};

Gate::Gate(const Device& device, Compiler& compiler, const Problem& problem, std::uint64_t seed)
    : device_(device) {
  const auto add = [&](const Problem& checked, InputKind kind) {
    auto entry = std::make_unique<Case>(Case{checked, make_inputs(checked, kind, seed), {}});
    entry->expected = compute_reference(device, compiler, checked, entry->tensors);
    cases_.push_back(std::move(entry));
    ++seed;
  };
  const std::array<Problem, 2> checked = gate_problems(problem);
  add(checked[0], InputKind::kNormal);
  add(checked[1], InputKind::kLargeLogits);
}

Gate::~Gate() = default;

Comparison Gate::check(const KernelConfig& config, const LoadedConfig& kernels) {
  Comparison first;
  for (const auto& entry : cases_) {
    Comparison comparison =
        verify_config(device_, {entry->problem, entry->tensors, entry->expected}, config, kernels);
    if (!comparison.record.passed) return comparison;
    if (entry == cases_.front()) first = std::move(comparison);
  }
  return first;
}

}  // namespace heddle
