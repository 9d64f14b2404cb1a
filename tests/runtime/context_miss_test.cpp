// What a context does when no resident kernel serves a call.
#include "runtime/context.hpp"

#include <thread>

#include "tests/runtime/serving.hpp"

namespace heddle {
namespace {

TEST_CASE("a miss inside a capture is an error and compiles nothing") {
  Serving serving;
  const DriverStream stream = serving.cuda.create_stream(serving.context);
  Context context(serving.options());
  Context::Call call{.problem = small_problem(), .pointers = serving.tensors(), .stream = stream};
  serving.cuda.set_capturing(stream, true);
  require_error(ErrorCode::kCaptureMiss, {"stream", "heddle_prepare"},
                [&] { context.launch(call); });
  CHECK(context.counters().compiles == 0);
  CHECK(serving.cuda.call_count("cuModuleLoadData") == 0);
  serving.cuda.set_capturing(stream, false);
  context.prepare(call.problem);
  serving.cuda.set_capturing(stream, true);
  context.launch(call);
  CHECK(serving.last_launch().captured);
}

TEST_CASE("kernels that went with their context are loaded again") {
  Serving serving;
  Context context(serving.options());
  Context::Call call{.problem = small_problem(), .pointers = serving.tensors()};
  context.launch(call);
  const long long compiles = context.counters().compiles;
  serving.cuda.fail_next("cuLaunchKernel", kDriverInvalidHandle);
  serving.cuda.fail_next("cuFuncGetAttribute", kDriverInvalidHandle);
  require_error(ErrorCode::kDriverError, {"CUDA_ERROR_INVALID_HANDLE"},
                [&] { context.launch(call); });
  context.launch(call);
  CHECK(context.counters().misses == 2);
  CHECK(context.counters().compiles == compiles);
}

TEST_CASE("a config that does not load gives way to the next legal one") {
  Serving serving;
  Context context(serving.options());
  Context::Call call{.problem = small_problem(), .pointers = serving.tensors()};
  serving.cuda.fail_next("cuModuleLoadData", kDriverInvalidImage);
  context.launch(call);
  CHECK_THAT(serving.log, Catch::Contains("trying the next config"));
  context.launch(call);
  CHECK(context.counters().hot_hits == 1);
}

TEST_CASE("a device with little shared memory gets a config that fits it") {
  FakeDevice small;
  small.capability_minor = 0;
  small.capability_major = 8;
  small.shared_bytes_per_block = 101376;
  small.shared_bytes_per_sm = 102400;
  Serving serving({small});
  Context context(serving.options());
  Context::Call call{.problem = small_problem(), .pointers = serving.tensors()};
  call.problem.variant.head_dim = 256;
  context.launch(call);
  CHECK(serving.last_launch().shared_bytes <= 101376);
}

TEST_CASE("unaligned tensors get a kernel of their own") {
  Serving serving;
  Context context(serving.options());
  Context::Call call{.problem = small_problem(), .pointers = serving.tensors()};
  context.launch(call);
  const long long compiles = context.counters().compiles;
  call.pointers.value = static_cast<char*>(call.pointers.value) + 4;
  context.launch(call);
  CHECK(context.counters().compiles > compiles);
  CHECK(call.problem.variant.alignment == 4);
  call.pointers.value = static_cast<char*>(call.pointers.value) + 1;
  require_error(ErrorCode::kInvalidArgument, {"value", "2 bytes"}, [&] { context.launch(call); });
}

TEST_CASE("threads that miss together compile once") {
  Serving serving;
  auto options = serving.options();
  std::atomic<int> asked{0};
  options.on_miss = [&](const Problem&) {
    ++asked;
    return false;
  };
  Context context(std::move(options));
  const TensorPointers pointers = serving.tensors();
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      serving.set_current(serving.context);
      try {
        Context::Call call{.problem = small_problem(), .pointers = pointers};
        context.launch(call);
      } catch (const Error&) {
        ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(asked == 1);
  CHECK(context.counters().compiles == serving.cuda.live_modules());
}

TEST_CASE("a miss callback may use the context it was called from") {
  Serving serving;
  auto options = serving.options();
  Context* self = nullptr;
  const TensorPointers pointers = serving.tensors();
  int asked = 0;
  options.on_miss = [&](const Problem& problem) {
    ++asked;
    Context::Call call{.problem = problem, .pointers = pointers};
    self->launch(call);
    return true;
  };
  Context context(std::move(options));
  self = &context;
  Context::Call call{.problem = small_problem(), .pointers = pointers};
  context.launch(call);
  CHECK(asked == 1);
  CHECK(context.counters().compiles == serving.cuda.live_modules());
}

TEST_CASE("modules are unloaded with the context") {
  Serving serving;
  {
    Context context(serving.options());
    context.prepare(small_problem());
    CHECK(serving.cuda.live_modules() > 0);
  }
  CHECK(serving.cuda.live_modules() == 0);
}

TEST_CASE("explain compiles nothing and tells what a launch will use") {
  Serving serving;
  Context context(serving.options());
  const std::string before = context.explain(small_problem());
  CHECK_THAT(before, Catch::Contains("resident: no") && Catch::Contains("match: ") &&
                         Catch::Contains("config: family="));
  CHECK(context.counters().compiles == 0);
  context.prepare(small_problem());
  const std::string after = context.explain(small_problem());
  CHECK_THAT(after, Catch::Contains("resident: yes"));
  CHECK(after.substr(after.find("config")).substr(0, 40) ==
        before.substr(before.find("config")).substr(0, 40));
}

}  // namespace
}  // namespace heddle
