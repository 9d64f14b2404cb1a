// C40: everything a call enqueues is on the caller's stream.

#include <functional>

#include <catch2/catch.hpp>

#include "runtime/testing/inputs.hpp"
#include "tests/gpu/cases/api.hpp"
#include "tests/gpu/cases/checks.hpp"

namespace heddle {
namespace {

constexpr double kDelay = 20e-3;
constexpr int kRepeats = 3;

struct NamedStream {
  const char* name;
  DriverStream stream;
};

/// CU_STREAM_LEGACY and CU_STREAM_PER_THREAD, and the null stream, are handles anyone has.
std::vector<NamedStream> streams_beside(DriverStream non_blocking) {
  return {{"non-blocking", non_blocking},
          {"null", nullptr},
          {"legacy", reinterpret_cast<DriverStream>(1)},
          {"per-thread default", reinterpret_cast<DriverStream>(2)}};
}

using Call = std::function<void(const TensorPointers&, DriverStream)>;

/// A late kernel writes Q, our call follows, then a copy of O; nothing waits in between.
class DelayedQuery {
 public:
  DelayedQuery(Gpu& gpu, const SmallKernels& kernels, const Problem& problem, std::size_t workspace)
      : gpu_(gpu),
        kernels_(kernels),
        problem_(problem),
        tensors_(make_inputs(problem, InputKind::kNormal, test_seed())),
        expected_(host_reference(problem, tensors_)),
        buffers_(gpu.device(), problem, workspace),
        query_(gpu.device(), bytes_of(tensors_.query)),
        output_(gpu.device(), bytes_of(tensors_.query)) {
    buffers_.upload(tensors_);
    query_.upload(tensors_.query.data(), query_.bytes());
  }

  std::string check(const Call& call, DriverStream stream) {
    const TensorPointers pointers = buffers_.pointers();
    buffers_.poison_outputs();
    gpu_.poison(pointers.query, query_.bytes(), nullptr);
    gpu_.wait_for(nullptr);
    kernels_.copy_late(pointers.query, query_.data(), query_.bytes(), kDelay, stream);
    call(pointers, stream);
    gpu_.copy_on_device(output_.data(), pointers.output, output_.bytes(), stream);
    gpu_.wait_for(stream);
    Outputs actual{std::vector<std::uint16_t>(tensors_.query.size()), {}};
    output_.download(actual.output.data(), output_.bytes());
    actual.log_sum_exp = buffers_.log_sum_exp();
    return check_all_rows(problem_, expected_, actual);
  }

 private:
  static std::size_t bytes_of(const std::vector<std::uint16_t>& elements) {
    return elements.size() * sizeof(std::uint16_t);
  }

  const Gpu& gpu_;
  const SmallKernels& kernels_;
  const Problem problem_;
  const HostTensors tensors_;
  const HostReference expected_;
  ProblemBuffers buffers_;
  DeviceBuffer query_, output_;
};

std::vector<Problem> problems() {
  Problem prefill;
  prefill.variant = {.head_dim = 64, .mask = MaskKind::kCausal};
  prefill.sizes = {.batch = 2, .heads = 4, .seqlen_q = 300, .seqlen_kv = 300};
  Problem decode;
  decode.sizes = {.heads = 8, .kv_heads = 2, .seqlen_q = 1, .seqlen_kv = 4096, .num_splits = 5};
  return {prefill, decode};
}

void check_streams(Gpu& gpu, DelayedQuery& delayed, const Call& call) {
  const NonBlockingStream own(gpu.api());
  for (const auto& [name, stream] : streams_beside(own.get())) {
    INFO("stream: " << name << ", seed " << test_seed());
    for (int i = 0; i < kRepeats; ++i) CHECK(delayed.check(call, stream) == "");
  }
}

}  // namespace

TEST_CASE("C40 each family's launches follow a late kernel on the caller's stream") {
  Gpu gpu;
  const SmallKernels kernels(gpu);
  for (const Problem& problem : problems()) {
    for (const Kernel& kernel : load_kernels(gpu, fastest_requests(problem, gpu.limits()))) {
      INFO(full_text(kernel.config));
      DelayedQuery delayed(gpu, kernels, problem, workspace_bytes(gpu, problem, kernel.config));
      check_streams(gpu, delayed, [&](const TensorPointers& pointers, DriverStream stream) {
        enqueue(gpu, problem, kernel, pointers, stream);
      });
    }
  }
}

TEST_CASE("C40 heddle_launch follows a late kernel on the caller's stream") {
  Gpu gpu;
  const SmallKernels kernels(gpu);
  const ContextHandle context = create_context();
  REQUIRE(context != nullptr);
  for (const Problem& problem : problems()) {
    const heddle_problem asked = write_problem(problem);
    std::size_t bytes = 0;
    REQUIRE(failure(context, heddle_workspace_bytes(context.get(), &asked, nullptr, &bytes)) == "");
    if (problem.sizes.num_splits > 0) CHECK(bytes > 0);  // a combine kernel follows
    DelayedQuery delayed(gpu, kernels, problem, bytes);
    check_streams(gpu, delayed, [&](const TensorPointers& pointers, DriverStream stream) {
      const heddle_arguments arguments = c_arguments(pointers, bytes);
      CHECK(failure(context, heddle_launch(context.get(), &asked, &arguments, stream)) == "");
    });
  }
}

}  // namespace heddle
