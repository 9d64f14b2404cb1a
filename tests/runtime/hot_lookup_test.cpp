// What it costs to find the resident kernel of a problem, and whether threads hinder each other.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/kernel_entry.hpp"
#include "runtime/pointer_check.hpp"
#include "runtime/quick_check.hpp"
#include "runtime/striped_counter.hpp"

namespace {
std::atomic<long long> allocations{0};
}

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

using Clock = std::chrono::steady_clock;

constexpr double kAllowedNanoseconds = 200;
constexpr unsigned kThreads = 16;
constexpr double kLeastSpeedup = 8;
constexpr int kProblems = 64;
/// A batch is what the clock can tell; the median is over batches.
constexpr int kBatch = 200;
constexpr int kBatches = 1000;

double nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

Problem problem_of(int number) {
  Problem problem;
  problem.sizes = {.batch = 1 << number % 4,
                   .heads = 32,
                   .kv_heads = 8,
                   .seqlen_q = 100 << number / 4 % 4,
                   .seqlen_kv = 100 << number / 16 % 4};
  return problem;
}

/// The steps of Context::launch from a call to its kernel, less the driver's word on which context
/// is current (a fake one would be measured instead).
class Lookup {
 public:
  Lookup() {
    for (int i = 0; i < kProblems; ++i) {
      Problem problem = problem_of(i);
      problem.variant.alignment = alignment(problem);
      auto entry = std::make_unique<KernelEntry>();
      entry->key = kernel_key(problem, context());
      table_.insert(std::move(entry));
    }
  }

  const KernelEntry* find(Problem& problem) {
    require_valid(problem);
    require_pointers(problem, pointers_);
    problem.variant.alignment = alignment(problem);
    const KernelEntry* entry = table_.find(kernel_key(problem, context()));
    if (entry != nullptr) hits_.add_one();
    return entry;
  }

  long long hits() const { return hits_.sum(); }

 private:
  DriverContext context() { return this; }
  int alignment(const Problem& problem) const { return require_alignment(problem, pointers_); }

  alignas(256) char memory_[4 * 256] = {};
  TensorPointers pointers_{
      .query = memory_, .key = memory_ + 256, .value = memory_ + 512, .output = memory_ + 768};
  KernelTable table_;
  StripedCounter hits_;
};

std::vector<Problem> all_problems() {
  std::vector<Problem> problems;
  for (int i = 0; i < kProblems; ++i) problems.push_back(problem_of(i));
  return problems;
}

bool run_batch(Lookup& lookup, std::vector<Problem>& problems) {
  bool found = true;
  for (int i = 0; i < kBatch; ++i) found &= lookup.find(problems[i % kProblems]) != nullptr;
  return found;
}

TEST_CASE("A hot lookup takes at most 200 ns and allocates nothing") {
  Lookup lookup;
  auto problems = all_problems();
  std::vector<double> nanoseconds(kBatches);
  REQUIRE(run_batch(lookup, problems));
  const long long before = allocations;
  bool found = true;
  for (double& each : nanoseconds) {
    const auto start = Clock::now();
    found &= run_batch(lookup, problems);
    each = nanoseconds_since(start) / kBatch;
  }
  CHECK(allocations == before);
  CHECK(found);
  CHECK(lookup.hits() == (kBatches + 1LL) * kBatch);
  std::sort(nanoseconds.begin(), nanoseconds.end());
  std::printf("hot lookup: median %.0f ns, 99 of 100 below %.0f ns\n", nanoseconds[kBatches / 2],
              nanoseconds[kBatches * 99 / 100]);
#if defined(NDEBUG) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  CHECK(nanoseconds[kBatches / 2] <= kAllowedNanoseconds);
#endif
}

TEST_CASE("The counter of allocations counts") {
  const long long before = allocations;
  const auto problems = all_problems();
  CHECK(allocations > before);
}

TEST_CASE("A counter of many threads loses nothing") {
  StripedCounter counter;
  std::vector<std::thread> threads;
  for (int i = 0; i < 100; ++i) {  // more than it has stripes
    threads.emplace_back([&] {
      for (int times = 0; times < 1000; ++times) counter.add_one();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(counter.sum() == 100000);
}

/// Lookups a second of so many threads, all at once for as long as it takes.
double rate(Lookup& lookup, unsigned count) {
  constexpr int kRounds = 4000;
  std::atomic<unsigned> ready{0};
  std::atomic<bool> begin{false};
  std::atomic<int> misses{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      auto problems = all_problems();
      ++ready;
      while (!begin) std::this_thread::yield();
      for (int round = 0; round < kRounds; ++round) misses += run_batch(lookup, problems) ? 0 : 1;
    });
  }
  while (ready < count) std::this_thread::yield();
  const auto start = Clock::now();
  begin = true;
  for (std::thread& thread : threads) thread.join();
  REQUIRE(misses == 0);
  return 1e9 * count * kRounds * kBatch / nanoseconds_since(start);
}

TEST_CASE("Sixteen threads look up eight times as fast as one") {
  const unsigned cores = std::thread::hardware_concurrency();
  Lookup lookup;
  const unsigned threads = std::min(kThreads, std::max(cores, 1u));
  double speedup = 0;
  for (int attempt = 0; attempt < 3; ++attempt) {  // another process may have had a core
    speedup = std::max(speedup, rate(lookup, threads) / rate(lookup, 1));
  }
  std::printf("hot lookup: %u threads are %.1f times as fast as one\n", threads, speedup);
  if (cores < kThreads) {
    WARN("skipped: this machine has " << cores << " cores, the claim is about " << kThreads);
    return;
  }
#if defined(NDEBUG) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  CHECK(speedup >= kLeastSpeedup);
#endif
}

}  // namespace
}  // namespace heddle
