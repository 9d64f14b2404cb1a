#pragma once
// A grid of blocks on the cores of this machine.

#include <cstdint>
#include <vector>

#include "runtime/host/block_run.hpp"
#include "runtime/host/fault.hpp"

namespace heddle {

struct HostGrid {
  unsigned blocks = 0;
  BlockShape block;
};

struct HostLaunchOptions {
  Schedule schedule;
  int cores = 0;                      ///< 0 = all of this machine's
  BarrierCounts* barriers = nullptr;  ///< where to add what barriers were complete; null: nowhere
};

/// Runs every block, several at a time. `program` is called on every worker, also at once. Returns
/// the findings, ordered by block; empty when the kernel behaved. After a block that could not end,
/// no further one is begun.
std::vector<HostFault> launch_on_host(const HostGrid& grid, const MemoryMap& memory,
                                      const BlockRun::Program& program,
                                      const HostLaunchOptions& options);

}  // namespace heddle
