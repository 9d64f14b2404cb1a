#include "tests/gpu/cases/repeats.hpp"

#include "generator/candidates.hpp"
#include "runtime/testing/layout.hpp"

namespace heddle {

std::vector<KernelRequest> every_family(const Problem& problem, const DeviceLimits& limits) {
  auto requests = fastest_requests(problem, limits);
  const bool known = std::any_of(requests.begin(), requests.end(), [](const auto& request) {
    return request.config.family == Family::kFa3;
  });
  if (!known && !enumerate_candidates(problem.variant, limits, Family::kFa3).empty()) {
    requests.push_back(
        {problem.variant, fastest_config(problem, limits, {"fa3", Family::kFa3, false})});
  }
  return requests;
}

Problem RepeatedRuns::problem() {
  Problem problem;
  problem.variant = {.dtype = DataType::kBf16, .head_dim = 128, .mask = MaskKind::kCausal};
  problem.sizes = {.batch = 4, .heads = 16, .seqlen_q = 1111, .seqlen_kv = 1111, .num_splits = 3};
  return problem;
}

RepeatedRuns::RepeatedRuns(const Gpu& gpu, const SmallKernels& kernels, Kernel kernel)
    : gpu_(gpu),
      kernels_(kernels),
      kernel_(std::move(kernel)),
      buffers_(gpu.device(), problem_, workspace_bytes(gpu, problem_, kernel_.config)),
      first_output_(gpu.device(), output_bytes()),
      first_log_sum_exp_(gpu.device(), log_sum_exp_bytes()),
      stream_(gpu.api()) {
  const TensorPointers pointers = buffers_.pointers();
  const std::size_t elements = query_shape(problem_).elements();
  const DataType dtype = problem_.variant.dtype;
  kernels.fill_normal(pointers.query, elements, {dtype, test_seed()});
  kernels.fill_normal(pointers.key, elements, {dtype, test_seed() + 1});
  kernels.fill_normal(pointers.value, elements, {dtype, test_seed() + 2});
  enqueue(gpu_, problem_, kernel_, pointers, stream_.get());
  gpu.copy_on_device(first_output_.data(), pointers.output, output_bytes(), stream_.get());
  gpu.copy_on_device(first_log_sum_exp_.data(), pointers.log_sum_exp, log_sum_exp_bytes(),
                     stream_.get());
  gpu.wait_for(stream_.get());
}

std::string RepeatedRuns::check_values() const {
  return check_random_rows(gpu_, problem_, buffers_.pointers(), {.seed = test_seed()});
}

std::uint64_t RepeatedRuns::differences(int runs) const {
  return differences(
      runs, [&](int, const LaunchPlan& plan, const AttentionParameters& parameters,
                DriverStream stream) { kernel_.loaded->launch(plan, parameters, stream); });
}

std::uint64_t RepeatedRuns::differences(int runs, const Launch& launch) const {
  const DeviceCounter counter(gpu_);
  const TensorPointers pointers = buffers_.pointers();
  const LaunchPlan plan = this->plan();
  const auto parameters = fill_parameters(problem_, kernel_.config, plan, pointers);
  for (int i = 0; i < runs; ++i) {
    gpu_.poison(pointers.output, output_bytes(), stream_.get());
    gpu_.poison(pointers.log_sum_exp, log_sum_exp_bytes(), stream_.get());
    launch(i, plan, parameters, stream_.get());
    kernels_.count_different(pointers.output, first_output_.data(), output_bytes(), counter.data(),
                             stream_.get());
    kernels_.count_different(pointers.log_sum_exp, first_log_sum_exp_.data(), log_sum_exp_bytes(),
                             counter.data(), stream_.get());
  }
  gpu_.wait_for(stream_.get());
  return counter.value();
}

std::size_t RepeatedRuns::output_bytes() const {
  return query_shape(problem_).elements() * sizeof(std::uint16_t);
}

std::size_t RepeatedRuns::log_sum_exp_bytes() const {
  return query_shape(problem_).elements() / problem_.variant.head_dim * sizeof(float);
}

}  // namespace heddle
