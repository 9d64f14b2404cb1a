#include "tuner/compile_pool.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace heddle {
namespace {

/// The state the worker threads share.
class Pool {
 public:
  Pool(const TuneTarget& target, const Variant& variant, std::vector<Candidate>& candidates,
       const TuneOptions& options)
      : target_(target), variant_(variant), candidates_(candidates), options_(options) {}

  void work() {
    while (!stopped_) {
      const std::size_t index = next_++;
      if (index >= candidates_.size()) return;
      if (options_.interrupted && options_.interrupted()) return;
      compile(candidates_[index]);
      report();
    }
  }

  void rethrow() const {
    if (fatal_) std::rethrow_exception(fatal_);
  }

 private:
  void compile(Candidate& candidate) {
    try {
      candidate.kernels =
          compile_config(target_.compiler, variant_, candidate.config, target_.limits);
      if (candidate.kernels->rejection) candidate.failure = candidate.kernels->rejection->reason;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kNvrtcMissing) return stop();
      candidate.failure = error.what();
    } catch (...) {
      stop();
    }
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    if (!fatal_) fatal_ = std::current_exception();
    stopped_ = true;
  }

  void report() {
    const std::lock_guard lock(mutex_);
    ++done_;
    if (options_.progress) {
      options_.progress({TuneStage::kCompile, done_, static_cast<int>(candidates_.size())});
    }
  }

  const TuneTarget& target_;
  const Variant& variant_;
  std::vector<Candidate>& candidates_;
  const TuneOptions& options_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  int done_ = 0;
  std::exception_ptr fatal_;
};

}  // namespace

void compile_candidates(const TuneTarget& target, const Variant& variant,
                        std::vector<Candidate>& candidates, const TuneOptions& options) {
  const auto cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const int wanted = options.compile_threads > 0 ? options.compile_threads : cores;
  const int count = std::min(wanted, static_cast<int>(candidates.size()));
  Pool pool(target, variant, candidates, options);
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&pool] { pool.work(); });
  threads.clear();
  pool.rethrow();
}

}  // namespace heddle
