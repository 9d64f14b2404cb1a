#pragma once

#include <span>
#include <string>
#include <string_view>

namespace heddle {

/// What a kernel may use on a device. From the architecture table, or read off a live device.
struct DeviceLimits {
  std::string architecture;  ///< "sm_90a": what is compiled for
  int capability_major = 0;
  int capability_minor = 0;
  int sm_count = 0;
  int shared_bytes_per_block = 0;  ///< opt-in limit
  int shared_bytes_per_sm = 0;
  int registers_per_sm = 65536;
  int threads_per_sm = 2048;
  int blocks_per_sm = 32;
  long long l2_bytes = 0;
  // Rates that only the cost model uses.
  double clock_ghz = 0;
  double tensor_flops_per_clock_sm = 0;  ///< dense fp16/bf16 through mma.sync
  double hbm_bytes_per_second = 0;
};

/// One row per architecture heddle can emit for; source of each figure beside the table.
std::span<const DeviceLimits> architecture_table();
/// The row of that name. Throws kInvalidArgument listing the known names.
const DeviceLimits& find_architecture(std::string_view name);
/// The row to compile for on a device of this capability: the exact one (with its 'a' suffix where
/// there is such a row), else the highest row of the same major; null where there is none.
const DeviceLimits* row_for_capability(int major, int minor);

}  // namespace heddle
