#include "generator/architecture.hpp"

#include <algorithm>
#include <array>

#include "generator/error.hpp"

namespace heddle {
namespace {

constexpr int kKib = 1024;
constexpr long long kMib = 1024LL * 1024;

/// One product per row stands for its architecture wherever no live device is at hand.
struct Product {
  int sm_count;
  long long l2_mib;
  double clock_ghz;
  double tensor_flops;  ///< per clock and SM, dense, fp32 accumulation, by mma.sync
  double hbm_gb_per_second;
};

// Per product: SMs, L2, boost clock and bandwidth from NVIDIA's datasheets and architecture papers;
// tensor_flops = the sheet's dense fp16 rate with fp32 accumulation / (SMs * boost clock).
constexpr Product kA100{108, 40, 1.41, 2048, 2039};  // A100 SXM 80 GB: 312 TFLOP/s
constexpr Product kA40{84, 6, 1.74, 1024, 696};      // A40: 149.7 TFLOP/s
constexpr Product kOrin{16, 4, 1.30, 2048, 204.8};   // Jetson AGX Orin 64 GB: 85 sparse TFLOP/s
constexpr Product kL40s{142, 96, 2.52, 1024, 864};   // L40S: 362 TFLOP/s
// H200: L2 as its driver reports it; clock as it runs under this load (1.6 to 1.75 GHz; boost is
// 1.98); mma.sync reaches 62.9 % of wgmma's 4096 (Luo et al. 2024, arXiv:2402.13499).
constexpr Product kH200{132, 60, 1.65, 2580, 4800};
// Blackwell data centre parts: mma.sync's rate is not published; Ampere's is assumed, since the
// full rate is tcgen05's alone. Clock and L2 as their drivers report them.
constexpr Product kB200{148, 126, 1.85, 2048, 8000};
constexpr Product kB300{148, 126, 1.92, 2048, 8000};
constexpr Product kRtx5090{170, 96, 2.41, 512, 1792};  // RTX 5090: 209.5 TFLOP/s

/// "Technical specifications per compute capability" of the CUDA C++ Programming Guide.
struct Capability {
  int major, minor;
  int shared_kib_per_block, shared_kib_per_sm;
  int threads_per_sm, blocks_per_sm;
};

constexpr Capability k80{8, 0, 163, 164, 2048, 32};
constexpr Capability k86{8, 6, 99, 100, 1536, 16};
constexpr Capability k87{8, 7, 163, 164, 1536, 16};
constexpr Capability k89{8, 9, 99, 100, 1536, 24};
constexpr Capability k90{9, 0, 227, 228, 2048, 32};
constexpr Capability k100{10, 0, 227, 228, 2048, 32};
constexpr Capability k103{10, 3, 227, 228, 2048, 32};
constexpr Capability k120{12, 0, 99, 100, 1536, 24};

DeviceLimits row(const char* name, const Capability& capability, const Product& product) {
  DeviceLimits limits;
  limits.architecture = name;
  limits.capability_major = capability.major;
  limits.capability_minor = capability.minor;
  limits.sm_count = product.sm_count;
  limits.shared_bytes_per_block = capability.shared_kib_per_block * kKib;
  limits.shared_bytes_per_sm = capability.shared_kib_per_sm * kKib;
  limits.registers_per_sm = 65536;  // the same in every one of them
  limits.threads_per_sm = capability.threads_per_sm;
  limits.blocks_per_sm = capability.blocks_per_sm;
  limits.l2_bytes = product.l2_mib * kMib;
  limits.clock_ghz = product.clock_ghz;
  limits.tensor_flops_per_clock_sm = product.tensor_flops;
  limits.hbm_bytes_per_second = product.hbm_gb_per_second * 1e9;
  return limits;
}

bool is_feature_specific(const DeviceLimits& limits) {
  return limits.architecture.back() == 'a';
}

/// A cubin runs on later minor capabilities of its major, unless it is an 'a' one: that runs on
/// exactly its own.
bool runs_on(const DeviceLimits& limits, int major, int minor) {
  if (limits.capability_major != major) return false;
  if (is_feature_specific(limits)) return limits.capability_minor == minor;
  return limits.capability_minor <= minor;
}

}  // namespace

std::span<const DeviceLimits> architecture_table() {
  // Ascending; where an 'a' row exists it follows its plain one, so that the last match is the
  // best.
  static const std::array table{
      row("sm_80", k80, kA100),    row("sm_86", k86, kA40),       row("sm_87", k87, kOrin),
      row("sm_89", k89, kL40s),    row("sm_90", k90, kH200),      row("sm_90a", k90, kH200),
      row("sm_100", k100, kB200),  row("sm_100a", k100, kB200),   row("sm_103", k103, kB300),
      row("sm_103a", k103, kB300), row("sm_120", k120, kRtx5090), row("sm_120a", k120, kRtx5090)};
  return table;
}

const DeviceLimits& find_architecture(std::string_view name) {
  std::string known;
  for (const DeviceLimits& limits : architecture_table()) {
    if (limits.architecture == name) return limits;
    known += (known.empty() ? "" : ", ") + limits.architecture;
  }
  throw Error(ErrorCode::kInvalidArgument, "arch",
              "arch: unknown architecture '" + std::string(name) + "'; known ones: " + known);
}

const DeviceLimits* row_for_capability(int major, int minor) {
  const DeviceLimits* best = nullptr;
  for (const DeviceLimits& limits : architecture_table()) {
    if (runs_on(limits, major, minor)) best = &limits;
  }
  return best;
}

}  // namespace heddle
