#include "generator/residency.hpp"

#include <algorithm>

namespace heddle {

Residency residency(const PartWork& work, const DeviceLimits& limits) {
  constexpr int kReservedShared = 1024;  // per block, by the driver, since sm_80
  const int threads = work.warps * 32;
  const int registers = std::min(255, (work.registers + 7) / 8 * 8);
  const int warps_by_registers = limits.registers_per_sm / (registers * 32) / 4 * 4;
  const Residency bounds[] = {
      {limits.blocks_per_sm, "blocks per SM"},
      {limits.threads_per_sm / threads, "threads per SM"},
      {limits.shared_bytes_per_sm / (work.shared_bytes + kReservedShared), "shared memory"},
      {warps_by_registers / work.warps, "registers"}};
  Residency least =
      *std::min_element(std::begin(bounds), std::end(bounds),
                        [](const Residency& a, const Residency& b) { return a.blocks < b.blocks; });
  least.blocks = std::max(least.blocks, 1);
  return least;
}

}  // namespace heddle
