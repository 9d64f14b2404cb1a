#include "tuner/compile_pool.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "tuner/worker_messages.hpp"

namespace heddle {
namespace {

/// What NVRTC takes for a large kernel, with room.
constexpr long long kUsualBytes = 1LL << 30;
constexpr long long kLeastLimit = 2LL << 30;
/// A machine so busy that a process gets less than this share of a core is past waiting for.
constexpr double kLeastShare = 0.1;

/// Of main memory, without pushing others out; a guess where the system does not say.
long long available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  long long kibibytes = 0;
  while (file >> name >> kibibytes) {
    if (name == "MemAvailable:") return kibibytes * 1024;
    std::getline(file, unit);
  }
  return 8LL << 30;
}

int thread_count(int wanted) {
  if (wanted > 0) return wanted;
  const long long cores = std::max(1u, std::thread::hardware_concurrency());
  return static_cast<int>(std::clamp(available_bytes() / kUsualBytes, 1LL, cores));
}

}  // namespace

CompilePool::CompilePool(Compiler& compiler, const Variant& variant, const DeviceLimits& device,
                         const WorkerSetup& setup, const CompileLimits& limits)
    : compiler_(compiler), variant_(variant), device_(device), setup_(setup), limits_(limits) {
  const int count = thread_count(limits.threads);
  memory_bytes_ = std::max(kLeastLimit, available_bytes() / count);
  for (int i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
}

CompilePool::~CompilePool() {
  stopped_ = true;
  // The lock: a thread that has looked at stopped_ but does not wait yet would miss the call.
  { const std::lock_guard lock(mutex_); }
  changed_.notify_all();
}

void CompilePool::add(const CompileJob& job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(job);
  }
  changed_.notify_all();
}

std::optional<CompileResult> CompilePool::take(std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, wait, [&] { return fatal_ || !results_.empty(); });
  if (fatal_) std::rethrow_exception(fatal_);
  if (results_.empty()) return std::nullopt;
  CompileResult result = std::move(results_.front());
  results_.pop_front();
  return result;
}

std::optional<CompileJob> CompilePool::next_job() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || !jobs_.empty(); });
  if (stopped_) return std::nullopt;
  const CompileJob job = jobs_.front();
  jobs_.pop_front();
  return job;
}

void CompilePool::work() {
  std::unique_ptr<WorkerProcess> worker;
  while (const auto job = next_job()) {
    try {
      finish(compile(*job, worker));
    } catch (...) {
      {
        const std::lock_guard lock(mutex_);
        if (!fatal_) fatal_ = std::current_exception();
      }
      changed_.notify_all();
      return;
    }
  }
}

void CompilePool::finish(CompileResult result) {
  {
    const std::lock_guard lock(mutex_);
    results_.push_back(std::move(result));
  }
  changed_.notify_all();
}

CompileResult CompilePool::compile(const CompileJob& job, std::unique_ptr<WorkerProcess>& worker) {
  CompileResult result;
  result.id = job.id;
  try {
    auto kernels = std::make_shared<ConfigKernels>(run(job, worker));
    if (kernels->rejection) result.failure = kernels->rejection->reason;
    result.kernels = std::move(kernels);
  } catch (const WorkerLost& lost) {
    worker.reset();
    const bool late = lost.why == WorkerLost::Why::kTimedOut;
    result.failure = late ? std::string("compile time-out: ") + lost.what()
                          : std::string("its compiling process ") + lost.what();
  } catch (const Error& error) {
    const bool stops_all = error.code() != ErrorCode::kCompileFailed &&
                           error.code() != ErrorCode::kOutOfMemory &&
                           error.code() != ErrorCode::kNoLegalConfig;
    if (stops_all) throw;
    result.failure = error.what();
  }
  return result;
}

ConfigKernels CompilePool::run(const CompileJob& job, std::unique_ptr<WorkerProcess>& worker) {
  if (setup_.program.empty()) {
    return compile_config(compiler_, variant_, job.config, device_, job.bad);
  }
  if (!worker) worker = std::make_unique<WorkerProcess>(setup_);
  nlohmann::json request{{"do", "compile"},
                         {"variant", canonical_text(variant_)},
                         {"config", canonical_text(job.config)},
                         {"limits", to_message(device_)}};
  if (job.bad) request["bad"] = static_cast<int>(*job.bad);
  Patience patience;
  patience.cpu_seconds = limits_.cpu_seconds;
  patience.seconds = limits_.cpu_seconds / kLeastShare;
  patience.memory_bytes = memory_bytes_;
  patience.interrupted = [this] { return stopped_.load(); };
  return kernels_of(worker->ask(request, patience).at("kernels"));
}

}  // namespace heddle
