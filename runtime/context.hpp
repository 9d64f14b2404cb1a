#pragma once
// What stands behind a heddle_context: resident kernels and the way to them.

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>

#include "generator/launch_plan.hpp"
#include "runtime/kernel_entry.hpp"
#include "runtime/miss_gate.hpp"
#include "runtime/quantiser.hpp"
#include "runtime/striped_counter.hpp"

namespace heddle {

class StreamScope;

/// Stream-ordered memory for calls that bring no workspace. C function pointers: the hot path calls
/// them, and they come through the C ABI as they are.
struct WorkspaceAllocator {
  int (*allocate)(void* user, std::size_t bytes, void* stream, void** pointer) = nullptr;
  void (*release)(void* user, void* pointer, std::size_t bytes, void* stream) = nullptr;
  void* user = nullptr;
};

/// Thread-safe throughout; any stream, any device, several CUDA contexts.
class Context {
 public:
  struct Options {
    KernelProvider::Options provider;
    WorkspaceAllocator allocator;
    /// Told of a problem without a measured kernel; true = look again. May call this Context.
    std::function<bool(const Problem&)> on_miss;
  };
  explicit Context(Options options);
  ~Context();

  struct Prepared {
    Match match = Match::kDefault;
    bool from_cache = true;
  };
  /// In the current CUDA context, as all but launch().
  Prepared prepare(Problem problem);

  /// Exact for what launch() will do; makes the kernels resident, so that a fallback config is
  /// known.
  std::size_t workspace_bytes(Problem problem, const TensorPointers& pointers);

  struct Call {
    Problem problem;  ///< its alignment is found out here
    TensorPointers pointers;
    std::size_t workspace_bytes = 0;
    DriverStream stream = nullptr;
  };
  void launch(Call& call);

  struct QuantiseCall {
    QuantiserCall what;  ///< its stream too
    void* workspace = nullptr;
    std::size_t workspace_bytes = 0;
  };
  /// Makes a problem's e4m3 inputs.
  void quantise(const QuantiseCall& call);

  /// Says what is or would be chosen; compiles nothing.
  std::string explain(Problem problem);

  struct Counters {
    long long compiles = 0, database_reads = 0, hot_hits = 0, misses = 0;
  };
  Counters counters() const;

 private:
  struct Miss {
    KernelKey key;
    DriverStream stream = nullptr;
    bool may_be_capturing = false;
  };
  const KernelEntry& resolve(const Problem& problem, const Miss& miss);
  const KernelEntry& build(const Problem& problem, const KernelKey& key, bool is_nested);
  struct Resident {
    const KernelEntry& entry;
    bool was_there;
  };
  Resident make_resident(Problem& problem, const TensorPointers& pointers);
  void launch_entry(const KernelEntry& entry, const Call& call);

  Options options_;
  KernelProvider provider_;
  Quantiser quantiser_{provider_};
  KernelTable table_;
  MissGate gate_;
  StripedCounter hot_hits_;
  std::atomic<long long> misses_{0};
};

}  // namespace heddle
