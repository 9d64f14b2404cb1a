// The serving path against the fake driver: which context, which pointers, which errors.
#include "runtime/context.hpp"

#include "tests/runtime/serving.hpp"

namespace heddle {
namespace {

TEST_CASE("a launch runs in the stream's context and restores the caller's") {
  Serving serving({FakeDevice{}, FakeDevice{}});
  const DriverContext other = serving.cuda.create_context(1);
  const DriverStream stream = serving.cuda.create_stream(other);
  Context context(serving.options());
  serving.set_current(other);
  Context::Call call{.problem = small_problem(), .pointers = serving.tensors(), .stream = stream};
  serving.set_current(serving.context);
  context.launch(call);
  context.launch(call);
  CHECK(serving.current() == serving.context);
  FakeLaunch launch = serving.last_launch();
  CHECK(launch.context == other);
  CHECK(launch.device == 1);
  CHECK(launch.stream == stream);
  // The same problem at home: its own modules, its own launch.
  Context::Call at_home{.problem = small_problem(), .pointers = serving.tensors()};
  context.launch(at_home);
  CHECK(serving.last_launch().context == serving.context);
  CHECK(context.counters().misses == 2);
}

TEST_CASE("two contexts on one device do not share modules") {
  Serving serving;
  const DriverContext second = serving.cuda.create_context(0);
  Context context(serving.options());
  Context::Call call{.problem = small_problem(), .pointers = serving.tensors()};
  context.launch(call);
  const int modules = serving.cuda.live_modules();
  const long long compiles = context.counters().compiles;
  serving.set_current(second);
  context.launch(call);
  CHECK(serving.cuda.live_modules() == 2 * modules);
  CHECK(context.counters().compiles == compiles);
}

TEST_CASE("no stream and no current context is an error that says what to do") {
  Serving serving;
  Context context(serving.options());
  Context::Call call{.problem = small_problem(), .pointers = serving.tensors()};
  serving.set_current(nullptr);
  require_error(ErrorCode::kDriverError, {"stream", "current CUDA context", "cudaSetDevice"},
                [&] { context.launch(call); });
}

TEST_CASE("the parameters of a launch are those of the call") {
  const bool has_fa3 = GENERATE(true, false);
  Serving serving({has_fa3 ? FakeDevice{} : ampere()});
  Context context(serving.options());
  Context::Call call{.problem = small_problem(), .pointers = serving.tensors()};
  call.pointers.log_sum_exp = static_cast<float*>(serving.allocate());
  call.problem.sizes.key_strides = {.batch = 1 << 20, .head = 256, .row = 1024};
  call.problem.sizes.scale = 0.5;
  context.launch(call);
  CHECK(std::string(serving.last_launch().kernel) ==
        (has_fa3 ? "heddle_fa3_attention" : "heddle_fa2_attention"));
  const AttentionParameters parameters = attention_of(serving.last_launch());
  CHECK(parameters.query.data == call.pointers.query);
  CHECK(parameters.key.data == call.pointers.key);
  CHECK(parameters.value.data == call.pointers.value);
  CHECK(parameters.output.data == call.pointers.output);
  CHECK(parameters.log_sum_exp == call.pointers.log_sum_exp);
  CHECK(parameters.key.batch_stride == 1 << 20);
  CHECK(parameters.key.row_stride == 1024);
  CHECK(parameters.value.row_stride == 64);
  CHECK(parameters.kv_heads == 2);
  CHECK(parameters.scale == 0.5f);
}

TEST_CASE("tensors of another device, or of the host, are refused before the launch") {
  Serving serving({FakeDevice{}, FakeDevice{}});
  Context context(serving.options());
  Context::Call call{.problem = small_problem(), .pointers = serving.tensors()};
  SECTION("another device") {
    serving.set_current(serving.cuda.create_context(1));
    call.pointers.value = serving.allocate();
    serving.set_current(serving.context);
    require_error(ErrorCode::kInvalidArgument, {"value", "device 1", "device 0"},
                  [&] { context.launch(call); });
  }
  SECTION("host") {
    alignas(256) static char host[1024];
    call.pointers.key = host;
    require_error(ErrorCode::kInvalidArgument, {"key", "host pointer"},
                  [&] { context.launch(call); });
  }
  SECTION("also where the kernel was prepared before") {
    context.prepare(call.problem);
    alignas(256) static char host[1024];
    call.pointers.output = host;
    require_error(ErrorCode::kInvalidArgument, {"output", "host pointer"},
                  [&] { context.launch(call); });
  }
  CHECK(serving.cuda.launch_count() == 0);
}

TEST_CASE("an empty problem touches nothing, not even the driver") {
  Serving serving;
  Context context(serving.options());
  const long long calls = serving.cuda.total_calls();
  for (int Sizes::*extent : {&Sizes::batch, &Sizes::heads, &Sizes::seqlen_q}) {
    Context::Call call{.problem = small_problem()};
    call.problem.sizes.*extent = 0;
    if (extent == &Sizes::heads) call.problem.sizes.kv_heads = 0;
    context.launch(call);
    CHECK(context.workspace_bytes(call.problem, {}) == 0);
    context.prepare(call.problem);
  }
  CHECK(serving.cuda.total_calls() == calls);
  CHECK(context.counters().compiles == 0);
  Context::Call normal{.problem = small_problem(), .pointers = serving.tensors()};
  context.launch(normal);
  CHECK(serving.cuda.launch_count() > 0);
}

TEST_CASE("without keys the output is still written, and key and value may be null") {
  Serving serving;
  Context context(serving.options());
  Context::Call call{.problem = small_problem(), .pointers = serving.tensors()};
  call.problem.sizes.seqlen_kv = 0;
  call.pointers.key = call.pointers.value = nullptr;
  context.launch(call);
  CHECK(serving.cuda.launch_count() > 0);
}

TEST_CASE("a refused launch is reported with the config, and the next call works") {
  Serving serving;
  Context context(serving.options());
  Context::Call call{.problem = small_problem(), .pointers = serving.tensors()};
  context.launch(call);
  serving.cuda.fail_next("cuLaunchKernel", kDriverInvalidValue);
  require_error(ErrorCode::kDriverError, {"CUDA_ERROR_INVALID_VALUE", "config: family="},
                [&] { context.launch(call); });
  const long long launches = serving.cuda.launch_count();
  context.launch(call);
  CHECK(serving.cuda.launch_count() > launches);
  CHECK(context.counters().misses == 1);
}

TEST_CASE("an earlier fault of the caller's is reported as such") {
  Serving serving;
  Context context(serving.options());
  Context::Call call{.problem = small_problem(), .pointers = serving.tensors()};
  context.launch(call);
  serving.cuda.set_sticky_error(serving.context, kDriverIllegalAddress);
  require_error(ErrorCode::kDriverError, {"CUDA_ERROR_ILLEGAL_ADDRESS", "earlier"},
                [&] { context.launch(call); });
}

TEST_CASE("a driver that shut down first does not disturb the end") {
  Serving serving;
  {
    Context context(serving.options());
    Context::Call call{.problem = small_problem(), .pointers = serving.tensors()};
    context.launch(call);
    serving.cuda.fail_all(kDriverDeinitialized);
  }
  serving.cuda.fail_all(kDriverSuccess);
  SUCCEED("no exception, no crash");
}

}  // namespace
}  // namespace heddle
