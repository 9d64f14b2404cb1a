// What a hot call costs: no memory, no file, no database, no lock, only the launch's driver calls.
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <new>
#include <set>
#include <thread>

#include "tests/runtime/c_abi_serving.hpp"

namespace {
std::atomic<long long> allocations{0};
}

// Every operator new of the process, libheddle.so included, comes through here.
// Not inlined: the compiler would take malloc and delete for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* pointer = std::malloc(bytes)) return pointer;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* pointer) noexcept {
  std::free(pointer);
}
[[gnu::noinline]] void operator delete(void* pointer, std::size_t) noexcept {
  std::free(pointer);
}

namespace heddle {
namespace {

/// Generous, for a loaded machine; the figure itself is printed. Debug and sanitized builds are not
/// judged.
constexpr double kAllowedNanoseconds = 3000;
/// Of processor time, with three tensor maps or four.
constexpr double kAllowedOfFa3 = 2000;

struct Served {
  explicit Served(const FakeDevice& device = {}) : serving({device}) {}

  Serving serving;
  ContextHandle context = create_context();
  heddle_problem problem = c_problem();
  heddle_arguments arguments = c_arguments(serving);

  void launch(void* stream = nullptr) {
    const heddle_status status = heddle_launch(context.get(), &problem, &arguments, stream);
    if (status != HEDDLE_OK) FAIL(heddle_last_error(context.get()));
  }
};

TEST_CASE("a hot call allocates nothing, for any layout") {
  Served served;
  served.launch();
  SECTION("contiguous") {}
  SECTION("strided, with LSE") {
    served.problem.output_strides[0] = 8 * 64 * 100;
    served.problem.output_strides[1] = 64;
    served.problem.output_strides[2] = 8 * 64;
    served.arguments.log_sum_exp = static_cast<float*>(served.serving.allocate());
  }
  SECTION("grouped queries, no keys") {
    served.problem.seqlen_kv = 0;
  }
  SECTION("unaligned") {
    served.arguments.key = static_cast<const char*>(served.arguments.key) + 2;
  }
  SECTION("e4m3 with scales") {
    served.problem.dtype = HEDDLE_E4M3;
    served.problem.value_layout = HEDDLE_VALUE_TRANSPOSED;
    served.arguments.query_descale = static_cast<const float*>(served.serving.allocate());
  }
  served.launch();
  const long long before = allocations;
  for (int i = 0; i < 100; ++i) served.launch();
  CHECK(allocations == before);
}

TEST_CASE("the counter of allocations counts those of the library") {
  Served served;
  const long long before = allocations;
  served.launch();  // a miss
  CHECK(allocations > before);
}

TEST_CASE("a hot call of fa3 also encodes its tensor maps, and asks whether it is captured") {
  Served served;
  SECTION("the default") {}
  SECTION("a stored winner") {
    served.problem.dtype = HEDDLE_BF16;
  }
  served.launch();
  served.launch();
  const FakeCuda& cuda = served.serving.cuda;
  REQUIRE(std::string(served.serving.last_launch().kernel) == "heddle_fa3_attention");
  const long long calls = cuda.total_calls(), before = allocations;
  served.launch();
  const long long maps = cuda.total_calls() - calls - 2;  // cuLaunchKernel, cuCtxGetCurrent
  CHECK(maps >= 3);                                       // Q, K, V
  CHECK(maps <= 5);                                       // and O, and cuStreamIsCapturing
  CHECK(allocations == before);
}

TEST_CASE("a hot call of fa2 makes only the driver calls of a launch") {
  Served served(ampere());
  const FakeCuda& cuda = served.serving.cuda;
  const DriverStream here = cuda.create_stream(served.serving.context);
  const DriverContext other = cuda.create_context(0);
  const DriverStream elsewhere = cuda.create_stream(other);
  const auto calls_of = [&](void* stream) {
    served.launch(stream);
    served.launch(stream);
    const long long calls = cuda.total_calls();
    const long long launches = cuda.launch_count();
    served.launch(stream);
    return std::pair{cuda.total_calls() - calls, cuda.launch_count() - launches};
  };
  const auto [null_calls, kernels] = calls_of(nullptr);
  CHECK(null_calls == kernels + 1);                 // cuCtxGetCurrent
  CHECK(calls_of(here).first == kernels + 2);       // and cuStreamGetCtx
  CHECK(calls_of(elsewhere).first == kernels + 4);  // and push, pop
}

TEST_CASE("decoding token by token compiles once a config and reads the database once a bucket") {
  Served served;
  served.problem.seqlen_q = 1;
  heddle_counters last{};
  long long buckets = 0;
  std::string configs;
  for (int length = 1; length <= 4096; ++length) {
    served.problem.seqlen_kv = length;
    size_t bytes = 0;
    REQUIRE(heddle_workspace_bytes(served.context.get(), &served.problem, &served.arguments,
                                   &bytes) == HEDDLE_OK);
    served.arguments.workspace = bytes > 0 ? served.serving.allocate(bytes) : nullptr;
    served.arguments.workspace_bytes = bytes;
    served.launch();
    const heddle_counters now = counters_of(served.context.get());
    const bool new_bucket = length == 1 || (length > 16 && ((length - 1) & (length - 2)) == 0);
    buckets += new_bucket ? 1 : 0;
    REQUIRE(now.misses == buckets);
    REQUIRE(now.database_reads - last.database_reads <= (new_bucket ? 1 : 0) * 8);
    if (!new_bucket) REQUIRE(now.database_reads == last.database_reads);
    last = now;
  }
  CHECK(buckets == 9);  // 16, 32 … 4096
  CHECK(last.compiles == served.serving.cuda.live_modules());
  CHECK(last.hot_hits >= 4096 - buckets);
}

/// Which scratch memory the launches of each stream were given.
struct Scratch {
  std::mutex mutex;
  std::map<void*, std::set<void*>> of_stream;

  static void note(const FakeLaunch* launch, void* user) {
    auto& self = *static_cast<Scratch*>(user);
    const std::lock_guard lock(self.mutex);
    self.of_stream[launch->stream].insert(attention_of(*launch).partial_output);
  }
};

TEST_CASE("two threads on two streams share nothing mutable") {
  Served served;
  Scratch scratch;
  served.serving.cuda.on_launch(&Scratch::note, &scratch);
  served.problem.num_splits = 3;
  served.problem.seqlen_kv = 4096;
  size_t bytes = 0;
  REQUIRE(heddle_workspace_bytes(served.context.get(), &served.problem, &served.arguments,
                                 &bytes) == HEDDLE_OK);
  std::atomic<int> failures{0};
  const auto serve = [&] {
    served.serving.set_current(served.serving.context);
    heddle_arguments arguments = c_arguments(served.serving);
    arguments.workspace = served.serving.allocate(bytes);
    arguments.workspace_bytes = bytes;
    const DriverStream stream = served.serving.cuda.create_stream(served.serving.context);
    for (int i = 0; i < 500; ++i) {
      failures += heddle_launch(served.context.get(), &served.problem, &arguments, stream) != 0;
    }
  };
  std::thread first(serve), second(serve);
  first.join();
  second.join();
  CHECK(failures == 0);
  REQUIRE(scratch.of_stream.size() == 2);
  const auto& [first_stream, first_scratch] = *scratch.of_stream.begin();
  const auto& [last_stream, last_scratch] = *scratch.of_stream.rbegin();
  CHECK(first_scratch.size() == 1);
  CHECK(last_scratch.size() == 1);
  CHECK(first_scratch != last_scratch);
  served.serving.cuda.on_launch(nullptr, nullptr);
}

double processor_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

double wall_nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::nano>(now).count();
}

double nanoseconds_per_call(Served& served, void* stream, double (*clock)() = wall_nanoseconds) {
  constexpr int kCalls = 20000;
  served.launch(stream);
  served.launch(stream);
  double best = 1e9;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const double start = clock();
    for (int i = 0; i < kCalls; ++i) {
      served.problem.seqlen_kv = 65 + i % 64;  // one bucket, other lengths
      heddle_launch(served.context.get(), &served.problem, &served.arguments, stream);
    }
    best = std::min(best, (clock() - start) / kCalls);
  }
  return best;
}

TEST_CASE("host time of a hot call of fa2") {
  Served served(ampere());
  const DriverStream here = served.serving.cuda.create_stream(served.serving.context);
  const double null_stream = nanoseconds_per_call(served, nullptr);
  const double own_stream = nanoseconds_per_call(served, here);
  REQUIRE(std::string(served.serving.last_launch().kernel) == "heddle_fa2_attention");
  std::printf("hot call of fa2: %.0f ns (null stream), %.0f ns (stream), fake driver included\n",
              null_stream, own_stream);
#if defined(NDEBUG) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  CHECK(null_stream < kAllowedNanoseconds);
  CHECK(own_stream < kAllowedNanoseconds);
#endif
}

TEST_CASE("host time of a hot call of fa3") {
  Served served;
  const DriverStream here = served.serving.cuda.create_stream(served.serving.context);
  const double null_stream = nanoseconds_per_call(served, nullptr, processor_nanoseconds);
  const double own_stream = nanoseconds_per_call(served, here, processor_nanoseconds);
  REQUIRE(std::string(served.serving.last_launch().kernel) == "heddle_fa3_attention");
  std::printf("hot call of fa3: %.0f ns (null stream), %.0f ns (stream), fake driver included\n",
              null_stream, own_stream);
#if defined(NDEBUG) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  CHECK(null_stream <= kAllowedOfFa3);
  CHECK(own_stream <= kAllowedOfFa3);
#endif
}

}  // namespace
}  // namespace heddle
