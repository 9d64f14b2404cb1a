// C100: whatever is thrown out beside them, kernels in use stay.
#include <malloc.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/runtime/serving.hpp"
#include "tests/runtime/temporary_folder.hpp"
#include "tuning_db/cubin_store.hpp"

namespace heddle {
namespace {

constexpr int kProblems = 6, kStreams = 3, kCalls = 1000;

/// Each with kernels of its own.
Problem problem_of(int number) {
  Problem problem = small_problem();
  problem.variant.head_dim = 64 + 8 * (number % kProblems);
  return problem;
}

/// Another process that empties the cubin cache for as long as this object lives.
class Clearing {
 public:
  explicit Clearing(const std::string& path) : child_(::fork()) {
    if (child_ != 0) return;
    while (::getppid() != 1) {
      CubinStore({.path = path}).clear();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ::_exit(0);
  }
  ~Clearing() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  Clearing(const Clearing&) = delete;
  Clearing& operator=(const Clearing&) = delete;

 private:
  pid_t child_;
};

/// Room for two compiled kernels, and a cache on disk.
Context::Options small_memory(Serving& serving, const TemporaryFolder& folder) {
  auto options = serving.options();
  options.provider.cache_path = (folder.path() / "cubins.db").string();
  {
    Context context(options);
    context.prepare(problem_of(0));
  }
  options.provider.compiled_bytes =
      2 * CubinStore({.path = options.provider.cache_path}).size_bytes();
  REQUIRE(options.provider.compiled_bytes > 0);
  return options;
}

/// Calls by turns from a thread for each stream, unsynchronised. How many failed.
int serve(Serving& serving, Context& context, const std::vector<DriverStream>& streams,
          const TensorPointers& pointers) {
  std::atomic<int> next{0}, failures{0};
  std::vector<std::thread> threads;
  for (const DriverStream stream : streams) {
    threads.emplace_back([&, stream] {
      serving.set_current(serving.context);
      for (int call = next++; call < kCalls; call = next++) {
        Context::Call launch{.problem = problem_of(call), .pointers = pointers, .stream = stream};
        try {
          context.launch(launch);
        } catch (const Error&) {
          ++failures;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return failures;
}

std::vector<DriverStream> create_streams(const Serving& serving) {
  std::vector<DriverStream> streams;
  for (int i = 0; i < kStreams; ++i) {
    streams.push_back(serving.cuda.create_stream(serving.context));
  }
  return streams;
}

TEST_CASE("C100 kernels in use outlive a cleared cache, a full memory and a capture") {
  Serving serving;
  const TemporaryFolder folder;
  const auto options = small_memory(serving, folder);
  const auto streams = create_streams(serving);
  const TensorPointers pointers = serving.tensors();
  const Clearing other(options.provider.cache_path);
  Context context(options);
  const int unloaded = static_cast<int>(serving.cuda.call_count("cuModuleUnload"));
  REQUIRE(serve(serving, context, streams, pointers) ==
          0);  // the first calls of all, misses among them

  const int modules = serving.cuda.live_modules();
  const long long compiles = context.counters().compiles, launches = serving.cuda.launch_count();
  CHECK(modules >= kProblems);
  const std::size_t memory = ::mallinfo2().uordblks;
  serving.cuda.set_capturing(streams[0], true);
  for (int round = 0; round < 5; ++round) REQUIRE(serve(serving, context, streams, pointers) == 0);
  serving.cuda.set_capturing(streams[0], false);
  CHECK(serving.cuda.launch_count() - launches >= 5 * kCalls);
  CHECK(context.counters().compiles == compiles);
  CHECK(serving.cuda.live_modules() == modules);
  CHECK(serving.cuda.call_count("cuModuleUnload") == unloaded);
  // Five more thousand calls, of which the fake alone keeps a note of a few: no kilobyte each.
  CHECK(::mallinfo2().uordblks < memory + 100000);
}

TEST_CASE("C100 a process that starts while another clears the cache gets its kernels") {
  Serving serving;
  const TemporaryFolder folder;
  const auto options = small_memory(serving, folder);
  const auto streams = create_streams(serving);
  const TensorPointers pointers = serving.tensors();
  const Clearing other(options.provider.cache_path);
  for (int round = 0; round < 10; ++round) {
    {
      Context context(options);
      for (int i = 0; i < kProblems; ++i) context.prepare(problem_of(i));
      REQUIRE(serve(serving, context, streams, pointers) == 0);
    }
    REQUIRE(serving.cuda.live_modules() == 0);
  }
  INFO(serving.log);
  CHECK(serving.log.find("warning") == std::string::npos);
}

TEST_CASE("C100 kernels that are loaded anew leave those of launches in flight") {
  Serving serving;
  const TemporaryFolder folder;
  Context context(small_memory(serving, folder));
  const auto streams = create_streams(serving);
  const TensorPointers pointers = serving.tensors();
  for (int i = 0; i < kProblems; ++i) context.prepare(problem_of(i));
  const long long unloaded = serving.cuda.call_count("cuModuleUnload");
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    // As where a context was reset: one launch meets it, and the next of its kind loads again while
    // other threads go on with what they hold.
    serving.cuda.fail_next("cuFuncGetAttribute", kDriverInvalidHandle);
    serving.cuda.fail_next("cuLaunchKernel", kDriverInvalidHandle);
    REQUIRE(serve(serving, context, streams, pointers) == 1);
  }
  CHECK(context.counters().misses >= kProblems + kRounds);
  CHECK(serving.cuda.call_count("cuModuleUnload") == unloaded);
}

}  // namespace
}  // namespace heddle
