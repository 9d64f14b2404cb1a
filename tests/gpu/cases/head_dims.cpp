// C31: head dims that are no powers of two.

#include <catch2/catch.hpp>

#include "runtime/testing/layout.hpp"
#include "tests/gpu/cases/api.hpp"
#include "tests/gpu/cases/checks.hpp"

namespace heddle {
namespace {

constexpr int kHeadDims[] = {8,  16, 24,  32,  40,  48,  56,  64,  72,  80,
                             88, 96, 104, 112, 120, 128, 160, 192, 224, 256};
constexpr int kRuns = 4;

Problem problem_of(int head_dim) {
  Problem problem;
  problem.variant = {.dtype = DataType::kFp16, .head_dim = head_dim};
  problem.sizes = {.heads = 16, .seqlen_q = 512, .seqlen_kv = 512, .num_splits = 2};
  return problem;
}

KernelConfig config_of(const Gpu& gpu, const Problem& problem, const Way& way) {
  return random_config(problem.variant, gpu.limits(), way, test_seed());
}

void compile_all(Gpu& gpu) {
  std::vector<KernelRequest> requests;
  for (const int head_dim : kHeadDims) {
    for (auto& request : random_requests(problem_of(head_dim).variant, gpu.limits(), test_seed())) {
      requests.push_back(std::move(request));
    }
  }
  compile_ahead(gpu, requests);
}

void check_way(Gpu& gpu, const SmallKernels& kernels, const Problem& problem, const Way& way) {
  const Kernel kernel = load_kernel(gpu, problem.variant, config_of(gpu, problem, way));
  INFO(full_text(kernel.config));
  ProblemBuffers buffers(gpu.device(), problem, workspace_bytes(gpu, problem, kernel.config));
  const TensorPointers pointers = buffers.pointers();
  std::uint64_t seed = test_seed();
  for (void* tensor : {pointers.query, pointers.key, pointers.value}) {
    kernels.fill_normal(tensor, query_shape(problem).elements(), {problem.variant.dtype, seed++});
  }
  Outputs first;
  for (int run = 0; run < kRuns; ++run) {
    buffers.poison_outputs();
    enqueue(gpu, problem, kernel, pointers, nullptr);
    gpu.wait_for(nullptr);
    const Outputs actual{buffers.output(), buffers.log_sum_exp()};
    if (run == 0) first = actual;
    CHECK(same_bits(actual, first));
  }
  CHECK(check_random_rows(gpu, problem, pointers, {.seed = test_seed()}) == "");
  CHECK(check_all_written(kernels, problem, pointers) == "");
  CHECK(buffers.guards_intact());
}

}  // namespace

TEST_CASE("C31 every head dim is right, and four runs have the same bits") {
  Gpu gpu;
  const SmallKernels kernels(gpu);
  compile_all(gpu);
  for (const int head_dim : kHeadDims) {
    for (const Way& way : kWays) {
      INFO("head_dim " << head_dim << ", " << way.name << ", seed " << test_seed());
      check_way(gpu, kernels, problem_of(head_dim), way);
    }
  }
}

TEST_CASE("C31 C32 a head dim that is no multiple of 8 is refused by name before compiling") {
  const Gpu gpu;
  const ContextHandle context = create_context();
  REQUIRE(context != nullptr);
  DeviceBuffer tensor(gpu.device(), std::size_t{1} << 20);
  for (const int head_dim : {1, 33, 46, 63, 100}) {
    INFO("head_dim " << head_dim);
    const heddle_problem problem = write_problem(problem_of(head_dim));
    const heddle_arguments arguments =
        c_arguments({tensor.data(), tensor.data(), tensor.data(), tensor.data()}, 0);
    CHECK(heddle_launch(context.get(), &problem, &arguments, nullptr) == HEDDLE_INVALID_ARGUMENT);
    CHECK(std::string(heddle_last_error_field(context.get())) == "head_dim");
    CHECK_THAT(heddle_last_error(context.get()), Catch::Contains(std::to_string(head_dim)));
    CHECK(heddle_prepare(context.get(), &problem, 1, nullptr) == HEDDLE_INVALID_ARGUMENT);
  }
  CHECK(compiles(context) == 0);
}

}  // namespace heddle
