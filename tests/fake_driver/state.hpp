#pragma once
// The fake's inside. One process-wide state, as in the real driver; it is leaked, so that calls
// made by exit handlers still find it.

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/fake_driver/fake_cuda.hpp"

namespace heddle::fake {

enum class Entry {
#define HEDDLE_FAKE_ENTRY(member, symbol, ...) symbol,
  HEDDLE_DRIVER_ENTRY_POINTS(HEDDLE_FAKE_ENTRY)
#undef HEDDLE_FAKE_ENTRY
      kCount
};
constexpr int kEntryCount = static_cast<int>(Entry::kCount);
/// kEntryCount for an unknown symbol.
int entry_of(const std::string& symbol);

struct Context {
  int device = 0;
  int primary_references = 0;  ///< of a primary context
  std::atomic<bool> alive{true};
  std::atomic<DriverResult> sticky{0};
  double clock_seconds = 0;  ///< virtual; guarded by State::launch_mutex
};

struct Stream {
  Context* context = nullptr;
  std::atomic<bool> alive{true};
  std::atomic<bool> capturing{false};
};

struct Function {
  std::string name;
  std::string variant;
  Context* context = nullptr;
  unsigned parameter_bytes = 0;
  std::atomic<int> shared_limit{48 * 1024};
  std::atomic<bool> alive{true};
};

struct Module {
  Context* context = nullptr;
  std::atomic<bool> alive{true};
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<unsigned> tile_counters;  ///< the only data that modules have, once asked for

  /// False if it was unloaded before.
  bool unload();
};

struct Event {
  Context* context = nullptr;
  double seconds = -1;  ///< not recorded yet; guarded by State::launch_mutex
};

struct Allocation {
  std::size_t bytes = 0;
  Context* context = nullptr;
};

struct Fault {
  int countdown = 0;  ///< 0 = none; 1 = the next call
  DriverResult code = 0;
};

struct State {
  std::array<std::atomic<long long>, kEntryCount> calls{};
  std::atomic<bool> initialized{false};
  std::atomic<int> version{13000};
  std::atomic<bool> proc_address{true};
  std::atomic<int> capturing_streams{0};

  // The launch path looks at this one flag; the rest is behind the mutex.
  std::atomic<bool> faults_armed{false};
  std::atomic<DriverResult> global_fault{0};

  std::mutex mutex;
  std::array<Fault, kEntryCount> faults{};
  std::vector<FakeDevice> devices{FakeDevice{}};
  std::map<int, Context*> primary_contexts;
  std::map<DevicePointer, Allocation> allocations;
  // Handles stay valid memory for ever: a stale one is answered with an error, not with a crash.
  std::vector<std::unique_ptr<Context>> contexts;
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<Module>> modules;
  std::vector<std::unique_ptr<Event>> events;

  std::mutex launch_mutex;
  static constexpr int kLaunchSlots = 128;
  std::vector<FakeLaunch> launches = std::vector<FakeLaunch>(kLaunchSlots);
  long long launch_count = 0;
  double launch_seconds = 10e-6;
  FakeKernelHook* hook = nullptr;
  FakeKernelHook* usual_hook = nullptr;  ///< what a reset goes back to
  void* hook_user = nullptr;
};

State& state();

/// Counts the call; the result an injected fault wants, else success. Every entry point begins
/// here.
DriverResult enter(Entry entry);
/// The same for calls that need a current context, which is returned.
DriverResult enter(Entry entry, Context*& current);
/// An error while any stream is being captured, as in global capture mode.
DriverResult refuse_while_capturing();

/// The calling thread's contexts; the top is current. Trivially destructible, because destructors
/// of static objects may still call the driver when thread-local objects are gone.
struct ContextStack {
  static constexpr int kCapacity = 64;
  Context* entries[kCapacity];
  int depth;

  Context* top() const { return depth == 0 ? nullptr : entries[depth - 1]; }
};
ContextStack& context_stack();
Context* current_context();
DriverResult context_result(const Context* context);

/// Null for the null, legacy (1) and per-thread (2) streams, which follow the current context.
Stream* explicit_stream(DriverStream stream);

/// Kernels of an image, real or from fake_cubin(); empty when it is neither.
std::vector<std::unique_ptr<Function>> parse_image(const void* image);

}  // namespace heddle::fake
