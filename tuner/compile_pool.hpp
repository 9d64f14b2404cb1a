#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "tuner/config_kernels.hpp"
#include "tuner/worker_process.hpp"

namespace heddle {

struct CompileLimits {
  int threads = 0;          ///< 0 = as many as cores and memory allow
  double cpu_seconds = 60;  ///< of processor time for one candidate; in a worker only
};

struct CompileJob {
  int id = 0;
  KernelConfig config;
  std::optional<BadKind> bad;
};

struct CompileResult {
  int id = 0;
  std::shared_ptr<const ConfigKernels> kernels;  ///< null where there is a failure
  std::string failure;                           ///< also where the notes reject the kernels
};

/// Compiles on several threads, each with a worker of its own that can be ended; without a worker
/// program in this process. Jobs are taken up in the order of add().
class CompilePool {
 public:
  /// All outlive the pool.
  CompilePool(Compiler& compiler, const Variant& variant, const DeviceLimits& device,
              const WorkerSetup& setup, const CompileLimits& limits);
  ~CompilePool();
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  void add(const CompileJob& job);
  /// The next one that is done; nullopt after this long. Throws what stops all of them (no NVRTC,
  /// no worker).
  std::optional<CompileResult> take(std::chrono::milliseconds wait);
  int threads() const { return static_cast<int>(threads_.size()); }

 private:
  void work();
  std::optional<CompileJob> next_job();
  CompileResult compile(const CompileJob& job, std::unique_ptr<WorkerProcess>& worker);
  ConfigKernels run(const CompileJob& job, std::unique_ptr<WorkerProcess>& worker);
  void finish(CompileResult result);

  Compiler& compiler_;
  const Variant& variant_;
  const DeviceLimits& device_;
  const WorkerSetup& setup_;
  CompileLimits limits_;
  long long memory_bytes_ = 0;  ///< of one worker

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<CompileJob> jobs_;
  std::deque<CompileResult> results_;
  std::exception_ptr fatal_;
  std::atomic<bool> stopped_{false};

  std::vector<std::jthread> threads_;  // last, so that they end first
};

}  // namespace heddle
