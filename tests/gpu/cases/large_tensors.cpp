// C13: tensors with more than 2^31 elements.

#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/gpu/cases/checks.hpp"

namespace heddle {
namespace {

constexpr int kBatch = 8200;
constexpr int kHeads = 32;
constexpr int kLength = 64;
constexpr int kHeadDim = 128;
/// Batch 0 and the ten around and beyond element 2^31.
constexpr int kFirstChecked = 8190;
constexpr int kChecked = 11;
constexpr std::size_t kPerBatch = std::size_t{kHeads} * kLength * kHeadDim;

Problem large_problem() {
  Problem problem;
  problem.variant = {.dtype = DataType::kBf16, .head_dim = kHeadDim};
  problem.sizes = {
      .batch = kBatch, .heads = kHeads, .seqlen_q = kLength, .seqlen_kv = kLength, .num_splits = 2};
  return problem;
}

template <class Value>
std::vector<Value> checked_batches(const Gpu& gpu, const void* tensor, std::size_t per_batch) {
  std::vector<Value> values(per_batch * kChecked);
  const auto* from = static_cast<const Value*>(tensor);
  const auto read = [&](std::size_t to, std::size_t batch, std::size_t batches) {
    gpu.check(gpu.api().cuMemcpyDtoH(values.data() + to * per_batch,
                                     device_address(from + batch * per_batch),
                                     batches * per_batch * sizeof(Value)),
              "cuMemcpyDtoH");
  };
  read(0, 0, 1);
  read(1, kFirstChecked, kChecked - 1);
  return values;
}

HostTensors checked_inputs(const Gpu& gpu, const TensorPointers& pointers) {
  return {checked_batches<std::uint16_t>(gpu, pointers.query, kPerBatch),
          checked_batches<std::uint16_t>(gpu, pointers.key, kPerBatch),
          checked_batches<std::uint16_t>(gpu, pointers.value, kPerBatch)};
}

}  // namespace

TEST_CASE("C13 more than 2^31 elements: the last batches are right") {
  Gpu gpu;
  const SmallKernels kernels(gpu);
  const Problem problem = large_problem();
  REQUIRE(kPerBatch * kBatch > std::size_t{1} << 31);
  const std::vector<Kernel> loaded = load_kernels(gpu, fastest_requests(problem, gpu.limits()));
  std::size_t workspace = 0;
  for (const Kernel& kernel : loaded) {
    workspace = std::max(workspace, workspace_bytes(gpu, problem, kernel.config));
  }
  ProblemBuffers buffers(gpu.device(), problem, workspace);
  const TensorPointers pointers = buffers.pointers();
  std::uint64_t seed = test_seed();
  for (void* tensor : {pointers.query, pointers.key, pointers.value}) {
    kernels.fill_normal(tensor, kPerBatch * kBatch, {DataType::kBf16, seed++});
  }
  Problem checked = problem;
  checked.sizes.batch = kChecked;
  const HostReference expected = host_reference(checked, checked_inputs(gpu, pointers));
  for (const Kernel& kernel : loaded) {
    INFO(full_text(kernel.config));
    buffers.poison_outputs();
    enqueue(gpu, problem, kernel, pointers, nullptr);
    gpu.wait_for(nullptr);
    const Outputs actual{
        checked_batches<std::uint16_t>(gpu, pointers.output, kPerBatch),
        checked_batches<float>(gpu, pointers.log_sum_exp, std::size_t{kHeads} * kLength)};
    CHECK(check_all_rows(checked, expected, actual) == "");
    CHECK(check_all_written(kernels, problem, pointers) == "");
    CHECK(buffers.guards_intact());
  }
}

}  // namespace heddle
