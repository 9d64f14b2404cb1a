// C15: the same input gives the same bits, run after run.

#include <catch2/catch.hpp>

#include "runtime/testing/layout.hpp"
#include "tests/gpu/cases/checks.hpp"
#include "tests/gpu/cases/load_process.hpp"

namespace heddle {
namespace {

constexpr int kRuns = 1000;
constexpr int kRunsPerLevel = 100;  ///< of ptxas's optimisation

Problem causal_problem() {
  Problem problem;
  problem.variant = {.dtype = DataType::kBf16, .head_dim = 128, .mask = MaskKind::kCausal};
  problem.sizes = {.batch = 4, .heads = 16, .seqlen_q = 1111, .seqlen_kv = 1111, .num_splits = 3};
  return problem;
}

/// A problem's buffers with random inputs, and a copy of what the first run gave.
class RepeatedRuns {
 public:
  RepeatedRuns(Gpu& gpu, const SmallKernels& kernels, const Problem& problem, Kernel kernel)
      : gpu_(gpu),
        kernels_(kernels),
        problem_(problem),
        kernel_(std::move(kernel)),
        buffers_(gpu.device(), problem, workspace_bytes(gpu, problem, kernel_.config)),
        first_output_(gpu.device(), output_bytes()),
        first_log_sum_exp_(gpu.device(), log_sum_exp_bytes()),
        stream_(gpu.api()) {
    const TensorPointers pointers = buffers_.pointers();
    const std::size_t elements = query_shape(problem).elements();
    kernels.fill_normal(pointers.query, elements, {problem.variant.dtype, test_seed()});
    kernels.fill_normal(pointers.key, elements, {problem.variant.dtype, test_seed() + 1});
    kernels.fill_normal(pointers.value, elements, {problem.variant.dtype, test_seed() + 2});
    run();
    gpu.copy_on_device(first_output_.data(), pointers.output, output_bytes(), stream_.get());
    gpu.copy_on_device(first_log_sum_exp_.data(), pointers.log_sum_exp, log_sum_exp_bytes(),
                       stream_.get());
    gpu.wait_for(stream_.get());
  }

  std::string check_values() const {
    return check_random_rows(gpu_, problem_, buffers_.pointers(), {.seed = test_seed()});
  }

  /// 32-bit words of O and LSE that differed from the first run's, over all runs.
  std::uint64_t differences(int runs) const {
    const DeviceCounter counter(gpu_);
    const TensorPointers pointers = buffers_.pointers();
    for (int i = 0; i < runs; ++i) {
      gpu_.poison(pointers.output, output_bytes(), stream_.get());
      gpu_.poison(pointers.log_sum_exp, log_sum_exp_bytes(), stream_.get());
      run();
      kernels_.count_different(pointers.output, first_output_.data(), output_bytes(),
                               counter.data(), stream_.get());
      kernels_.count_different(pointers.log_sum_exp, first_log_sum_exp_.data(), log_sum_exp_bytes(),
                               counter.data(), stream_.get());
    }
    gpu_.wait_for(stream_.get());
    return counter.value();
  }

  bool guards_intact() const { return buffers_.guards_intact(); }

 private:
  std::size_t output_bytes() const {
    return query_shape(problem_).elements() * sizeof(std::uint16_t);
  }
  std::size_t log_sum_exp_bytes() const {
    return query_shape(problem_).elements() / problem_.variant.head_dim * sizeof(float);
  }
  void run() const { enqueue(gpu_, problem_, kernel_, buffers_.pointers(), stream_.get()); }

  const Gpu& gpu_;
  const SmallKernels& kernels_;
  const Problem problem_;
  const Kernel kernel_;
  ProblemBuffers buffers_;
  DeviceBuffer first_output_, first_log_sum_exp_;
  NonBlockingStream stream_;
};

void check_repeats(Gpu& gpu, int runs) {
  const SmallKernels kernels(gpu);
  const Problem problem = causal_problem();
  for (const Kernel& kernel : load_kernels(gpu, fastest_requests(problem, gpu.limits()))) {
    INFO(full_text(kernel.config) << ", seed " << test_seed());
    const RepeatedRuns repeated(gpu, kernels, problem, kernel);
    CHECK(repeated.check_values() == "");
    CHECK(repeated.differences(runs) == 0);
    CHECK(repeated.guards_intact());
  }
}

}  // namespace

TEST_CASE("C15 a thousand runs of each family give the same bits") {
  Gpu gpu;
  check_repeats(gpu, kRuns);
}

TEST_CASE("C15 and while a second process loads the GPU") {
  Gpu gpu;
  const LoadProcess load;
  check_repeats(gpu, kRuns);
  CHECK(load.is_running());
}

TEST_CASE("C15 and at lower levels of ptxas's optimisation") {
  for (const char* level : {"-O1", "-O2"}) {
    INFO("ptxas " << level);
    Gpu gpu({std::string("--ptxas-options=") + level});
    check_repeats(gpu, kRunsPerLevel);
  }
}

}  // namespace heddle
