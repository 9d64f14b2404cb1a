#pragma once
// Ways to compute a problem: each family, fa2 also with split keys. Every case meets all of them.

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "generator/kernel_config.hpp"
#include "runtime/loaded_config.hpp"
#include "tests/gpu/cases/gpu.hpp"

namespace heddle {

struct Way {
  std::string_view name;
  Family family;
  bool split = false;
};

inline constexpr std::array<Way, 4> kWays{Way{"unfused", Family::kUnfused},
                                          Way{"fa1", Family::kFa1}, Way{"fa2", Family::kFa2},
                                          Way{"fa2 split", Family::kFa2, true}};

/// The one that the cost model thinks fastest, of those with at most so many rows to a tile.
KernelConfig fastest_config(const Problem& problem, const DeviceLimits& limits, const Way& way,
                            int most_rows = 256);
/// Any legal one: the search space is covered over time.
KernelConfig random_config(const Variant& variant, const DeviceLimits& limits, const Way& way,
                           std::uint64_t seed);

struct Kernel {
  KernelConfig config;
  std::shared_ptr<const LoadedConfig> loaded;
};

Kernel load_kernel(Gpu& gpu, const Variant& variant, const KernelConfig& config);

struct KernelRequest {
  Variant variant;
  KernelConfig config;
};
/// Compiles on all cores, so that load_kernel() finds them. Failures are left for it to meet.
void compile_ahead(Gpu& gpu, const std::vector<KernelRequest>& requests);
/// The fastest config of every way.
std::vector<KernelRequest> fastest_requests(const Problem& problem, const DeviceLimits& limits);
/// A random one of every way.
std::vector<KernelRequest> random_requests(const Variant& variant, const DeviceLimits& limits,
                                           std::uint64_t seed);
std::vector<Kernel> load_kernels(Gpu& gpu, const std::vector<KernelRequest>& requests);

}  // namespace heddle
