#include "generator/residency.hpp"

#include <algorithm>
#include <array>

namespace heddle {

namespace {

std::array<Residency, 4> bounds(const PartWork& work, const DeviceLimits& limits) {
  constexpr int kReservedShared = 1024;  // per block, by the driver, since sm_80
  const int threads = work.warps * 32;
  const int registers = std::min(255, (work.registers + 7) / 8 * 8);
  const int warps_by_registers = limits.registers_per_sm / (registers * 32) / 4 * 4;
  return {{{limits.blocks_per_sm, "blocks per SM"},
           {limits.threads_per_sm / threads, "threads per SM"},
           {limits.shared_bytes_per_sm / (work.shared_bytes + kReservedShared), "shared memory"},
           {warps_by_registers / work.warps, "registers"}}};
}

}  // namespace

Residency residency(const PartWork& work, const DeviceLimits& limits) {
  const auto all = bounds(work, limits);
  Residency least =
      *std::min_element(all.begin(), all.end(),
                        [](const Residency& a, const Residency& b) { return a.blocks < b.blocks; });
  least.blocks = std::max(least.blocks, 1);
  return least;
}

std::string residency_limits(const PartWork& work, const DeviceLimits& limits) {
  const int least = residency(work, limits).blocks;
  std::string text;
  for (const Residency& bound : bounds(work, limits)) {
    if (std::max(bound.blocks, 1) > least) continue;
    text += (text.empty() ? "" : " and ") + std::string(bound.limited_by);
  }
  return text;
}

}  // namespace heddle
