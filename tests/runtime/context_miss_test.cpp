// What a context does when no resident kernel serves a call.
#include "runtime/context.hpp"

#include <thread>

#include "generator/candidates.hpp"
#include "tests/runtime/fake_nvrtc_handle.hpp"
#include "tests/runtime/serving.hpp"
#include "tests/runtime/temporary_folder.hpp"

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

/// A measured row, as a tuner would store it, for a config that is not the default.
Measurement tuned_row(const Serving& serving, const Problem& problem) {
  Measurement row;
  row.variant = problem.variant;
  row.bucket = bucket_of(problem.sizes);
  row.sizes = problem.sizes;
  row.device = serving.driver->device_class(0);
  const DeviceLimits limits = serving.driver->device_limits(0);
  const KernelConfig usual = default_config(problem.variant, row.bucket, limits);
  for (const KernelConfig& config : enumerate_candidates(problem.variant, limits)) {
    if (!(config == usual) && !config.split_kv) row.config = config;
  }
  row.median_seconds = 1e-6;
  row.samples = 10;
  row.check = CheckRecord{.passed = true};
  return row;
}

TEST_CASE(
    "a stored config that this compiler serialises gives way to the default, served in any case") {
  Serving serving;
  const TemporaryFolder folder;
  auto options = serving.options();
  options.provider.results_path = (folder.path() / "results.db").string();
  {
    ResultsStore::Options store_options;
    store_options.path = options.provider.results_path;
    ResultsStore(store_options).record(tuned_row(serving, small_problem()));
  }
  FakeNvrtc nvrtc("13_loadable");
  nvrtc.log(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized\n");
  Context context(std::move(options));
  CHECK(context.prepare(small_problem()).match == Match::kDefault);
  CHECK_THAT(serving.log, Catch::Contains("C7510") && Catch::Contains("trying the next config") &&
                              Catch::Contains("served all the same"));
}

TEST_CASE("a stored config that does not load gives way to the next stored one, once a bucket") {
  Serving serving;
  const TemporaryFolder folder;
  auto options = serving.options();
  options.provider.results_path = (folder.path() / "results.db").string();
  Problem problem = small_problem();
  problem.variant.head_dim = 72;  // unknown to the shipped entries
  const Measurement winner = tuned_row(serving, problem);
  Measurement guess = winner;
  guess.evidence = Evidence::kPredicted;
  guess.check.reset();
  guess.config = default_config(winner.variant, winner.bucket, serving.driver->device_limits(0));
  guess.config.query_stages = 1;
  guess.config.tma_store = false;  // which wants two slots
  {
    ResultsStore::Options store_options;
    store_options.path = options.provider.results_path;
    ResultsStore(store_options).record({winner, guess});
  }
  Context context(std::move(options));
  serving.cuda.fail_next("cuModuleLoadData", kDriverInvalidImage);
  Context::Call call{.problem = problem, .pointers = serving.tensors()};
  context.launch(call);
  CHECK_THAT(context.explain(problem),
             Catch::Contains("match: predicted") && Catch::Contains(full_text(guess.config)) &&
                 Catch::Contains("passed_over: exact " + full_text(winner.config)));
  const long long reads = context.counters().database_reads;
  for (int length = 90; length <= 110; ++length) {  // one bucket, other lengths
    call.problem.sizes.seqlen_kv = length;
    context.launch(call);
  }
  CHECK(context.counters().database_reads == reads);
  CHECK(context.counters().misses == 1);
}

TEST_CASE("what a miss callback stores is what is loaded") {
  Serving serving;
  const TemporaryFolder folder;
  auto options = serving.options();
  options.provider.results_path = (folder.path() / "results.db").string();
  KernelConfig tuned;
  options.on_miss = [&](const Problem& problem) {
    ResultsStore::Options store_options;
    store_options.path = (folder.path() / "results.db").string();
    ResultsStore store(store_options);
    const Measurement row = tuned_row(serving, problem);
    tuned = row.config;
    store.record(row);
    return true;
  };
  Context context(std::move(options));
  CHECK(context.prepare(small_problem()).match == Match::kExact);
  const std::string text = context.explain(small_problem());
  CHECK_THAT(text, Catch::Contains("match: exact") && Catch::Contains(full_text(tuned)));
}

TEST_CASE("without compiling, only cached kernels are served") {
  Serving serving;
  const TemporaryFolder folder;
  auto options = serving.options();
  options.provider.cache_path = (folder.path() / "cubins.db").string();
  auto cached_only = options;
  cached_only.provider.use_jit = false;
  {
    Context context(cached_only);
    require_error(ErrorCode::kCompileFailed, {"not in the cubin cache", "switched off"},
                  [&] { context.prepare(small_problem()); });
  }
  CHECK_FALSE(Context(options).prepare(small_problem()).from_cache);
  Context context(cached_only);
  CHECK(context.prepare(small_problem()).from_cache);
  CHECK(context.counters().compiles == 0);
}

TEST_CASE("when no config compiles, the first failure is told, and nothing is remembered of it") {
  Serving serving;
  FakeNvrtc nvrtc("13_loadable");
  Context context(serving.options());
  nvrtc.fail_compile(6);
  require_error(ErrorCode::kCompileFailed, {"NVRTC_ERROR_COMPILATION"},
                [&] { context.prepare(small_problem()); });
  CHECK(nvrtc.compile_count() > 1);
  nvrtc.reset();
  context.prepare(small_problem());
}

}  // namespace
}  // namespace heddle
