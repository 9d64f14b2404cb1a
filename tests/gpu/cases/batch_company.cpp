// C79: a sequence alone, and beside others.

#include <catch2/catch.hpp>

#include "generator/candidates.hpp"
#include "runtime/testing/layout.hpp"
#include "tests/gpu/cases/checks.hpp"

namespace heddle {
namespace {

constexpr int kCompany = 4;
constexpr int kPinnedSplits = 5;

Problem problem_of(int batch, int splits = 0) {
  Problem problem;
  problem.variant = {.dtype = DataType::kBf16, .head_dim = 64};
  problem.sizes = {
      .batch = batch, .heads = 12, .seqlen_q = 500, .seqlen_kv = 350000, .num_splits = splits};
  return problem;
}

std::vector<Way> long_ways(const DeviceLimits& limits) {
  std::vector<Way> ways{{"fa2", Family::kFa2}, {"fa2 split", Family::kFa2, true}};
  if (enumerate_candidates(problem_of(1).variant, limits, Family::kFa3).empty()) return ways;
  ways.push_back({"fa3", Family::kFa3});
  ways.push_back({"fa3 split", Family::kFa3, true});
  return ways;
}

/// The tensors of four sequences; alone, the first of them is what a problem of batch 1 reads.
class Sequences {
 public:
  Sequences(const Gpu& gpu, const SmallKernels& kernels, std::size_t workspace)
      : gpu_(gpu),
        kernels_(kernels),
        buffers_(gpu.device(), problem_of(kCompany), workspace),
        alone_(gpu.device(), output_bytes(problem_of(1))) {
    const Problem problem = problem_of(kCompany);
    const TensorPointers pointers = buffers_.pointers();
    const std::size_t keys = key_value_shape(problem).elements();
    const DataType dtype = problem.variant.dtype;
    kernels.fill_normal(pointers.query, query_shape(problem).elements(), {dtype, test_seed()});
    kernels.fill_normal(pointers.key, keys, {dtype, test_seed() + 1});
    kernels.fill_normal(pointers.value, keys, {dtype, test_seed() + 2});
  }

  void run(const Problem& problem, const Kernel& kernel) {
    buffers_.poison_outputs();
    enqueue(gpu_, problem, kernel, buffers_.pointers(), nullptr);
    gpu_.wait_for(nullptr);
  }
  std::string check(const Problem& problem) const {
    return check_random_rows(gpu_, problem, buffers_.pointers(), {.count = 8, .seed = test_seed()});
  }

  void keep_first() {
    gpu_.copy_on_device(alone_.data(), buffers_.pointers().output, alone_.bytes(), nullptr);
  }
  std::uint64_t differences_from_kept() const {
    const DeviceCounter counter(gpu_);
    kernels_.count_different(buffers_.pointers().output, alone_.data(), alone_.bytes(),
                             counter.data(), nullptr);
    gpu_.wait_for(nullptr);
    return counter.value();
  }
  bool guards_intact() const { return buffers_.guards_intact(); }

 private:
  static std::size_t output_bytes(const Problem& problem) {
    return query_shape(problem).elements() * sizeof(std::uint16_t);
  }

  const Gpu& gpu_;
  const SmallKernels& kernels_;
  ProblemBuffers buffers_;
  DeviceBuffer alone_;
};

/// Enough for every problem that is run.
std::size_t most_workspace(const Gpu& gpu, const std::vector<KernelConfig>& configs) {
  std::size_t bytes = 0;
  for (const KernelConfig& config : configs) {
    for (const int batch : {1, kCompany}) {
      for (const int splits : {0, kPinnedSplits}) {
        bytes = std::max(bytes, workspace_bytes(gpu, problem_of(batch, splits), config));
      }
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("C79 one sequence of 350000 keys, alone and beside three, as each is computed fastest") {
  Gpu gpu;
  const SmallKernels kernels(gpu);
  for (const Way& way : long_ways(gpu.limits())) {
    for (const int batch : {1, kCompany}) {
      const Problem problem = problem_of(batch);
      const KernelConfig config = fastest_config(problem, gpu.limits(), way);
      INFO(way.name << ", batch " << batch << ", seed " << test_seed());
      Sequences sequences(gpu, kernels, most_workspace(gpu, {config}));
      sequences.run(problem, load_kernel(gpu, problem.variant, config));
      CHECK(sequences.check(problem) == "");
      CHECK(sequences.guards_intact());
    }
  }
}

TEST_CASE("C79 with config and splits pinned its bits are the same alone and beside three") {
  Gpu gpu;
  const SmallKernels kernels(gpu);
  for (const Way& way : long_ways(gpu.limits())) {
    const Problem alone = problem_of(1, way.split ? kPinnedSplits : 0);
    const Problem company = problem_of(kCompany, way.split ? kPinnedSplits : 0);
    const Kernel kernel = load_kernel(gpu, alone.variant, fastest_config(alone, gpu.limits(), way));
    INFO(full_text(kernel.config) << ", seed " << test_seed());
    Sequences sequences(gpu, kernels, most_workspace(gpu, {kernel.config}));
    sequences.run(alone, kernel);
    sequences.keep_first();
    sequences.run(company, kernel);
    CHECK(sequences.differences_from_kept() == 0);
    CHECK(sequences.guards_intact());
  }
}

}  // namespace heddle
