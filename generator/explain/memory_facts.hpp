#pragma once
// What lives in registers, in shared memory and in HBM, in bytes.

#include <string>
#include <vector>

#include "generator/launch_plan.hpp"

namespace heddle {

struct MemoryItem {
  std::string name;
  long long bytes = 0;
  std::string detail;  ///< how the bytes come about: "2 x 16384 B", "64 of each thread"
};

long long total_bytes(const std::vector<MemoryItem>& items);

/// Of one block. `shared` is the kernel's SharedStorage to the byte; `registers` are what its tiles
/// take exactly, and what the compiler is expected to add.
struct BlockMemory {
  std::vector<MemoryItem> registers;
  std::vector<MemoryItem> shared;
};
BlockMemory block_memory(const Variant& variant, const KernelConfig& config, KernelPart part,
                         const DeviceLimits& limits);

/// Tensors and workspace of the whole call.
std::vector<MemoryItem> hbm_contents(const Problem& problem, const KernelConfig& config,
                                     const LaunchPlan& plan);

}  // namespace heddle
