#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// A process with a context on a GPU.
struct GpuUser {
  unsigned pid = 0;
  std::string name;     ///< empty where it is another namespace's
  long long bytes = 0;  ///< of the GPU's memory; 0 = not known
};

struct GpuActivity {
  int busy_percent = 0;        ///< of the last sample period (at most a second), whoever's kernels
  std::vector<GpuUser> users;  ///< but for this process
};

/// What NVIDIA's management library says of one GPU. It is opened at run time, as the driver is,
/// and may be missing.
class Nvml {
 public:
  /// `pci_bus_id` as the driver tells it. The library is $HEDDLE_NVML, else libnvidia-ml.so.1.
  explicit Nvml(const std::string& pci_bus_id);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// nullopt = it cannot tell; problem() then says why.
  std::optional<GpuActivity> activity();
  const std::string& problem() const;
  /// "580.159.04"; empty where it cannot tell.
  std::string driver_version() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle
