#include "runtime/host/launch.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace heddle {

std::vector<HostFault> launch_on_host(const HostGrid& grid, const MemoryMap& memory,
                                      const BlockRun::Program& program,
                                      const HostLaunchOptions& options) {
  std::atomic<unsigned> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::vector<HostFault> faults;
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      BlockRun run(grid.block, options.schedule, memory, program);
      for (unsigned block = next++; block < grid.blocks && !stop; block = next++) {
        if (!run.run(static_cast<int>(block))) stop = true;
      }
      std::lock_guard lock(mutex);
      if (options.barriers != nullptr) {
        for (const auto& [id, times] : run.barrier_counts()) (*options.barriers)[id] += times;
      }
      for (HostFault& fault : run.take_faults()) faults.push_back(std::move(fault));
    } catch (...) {
      std::lock_guard lock(mutex);
      failure = std::current_exception();
      stop = true;
    }
  };
  const unsigned cores = options.cores > 0 ? static_cast<unsigned>(options.cores)
                                           : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> helpers;
  for (unsigned i = 1; i < std::min(cores, grid.blocks); ++i) helpers.emplace_back(work);
  if (grid.blocks > 0) work();
  helpers.clear();
  if (failure) std::rethrow_exception(failure);
  std::stable_sort(faults.begin(), faults.end(), [](const HostFault& left, const HostFault& right) {
    return left.block < right.block;
  });
  return faults;
}

}  // namespace heddle
