#pragma once
// Times kernels with the driver's events. What makes a figure repeatable:
// - a short spin kernel runs before each start event, so that the host has queued the work before
//   the device reaches it: launch cost is hidden;
// - the callback is told the iteration, so that it can rotate over input sets and L2 is not what is
//   measured;
// - versions to be compared take turns within one run, in alternating order: a power-capped card
//   slows down as it warms, and that must hit all of them alike;
// - the spin kernel also counts its own cycles, which gives the SM clock in between the samples.

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "generator/emit.hpp"
#include "runtime/device.hpp"

namespace heddle {

struct Timing {
  double median_seconds = 0;
  double spread_seconds = 0;  ///< interquartile range
  double clock_mhz = 0;       ///< median SM clock between the samples; 0 where it cannot be told
  std::vector<double> seconds;
  std::vector<double> clocks_mhz;  ///< SM clock right before each sample; 0 where it cannot be told
};

/// Value below which that fraction of the samples lies, interpolated; 0 for no samples.
double quantile(std::vector<double> samples, double fraction);

/// Its figures, from its samples.
void summarise(Timing& timing);

/// The spin kernel's source, to be compiled like any other; its cubin goes to Meter.
KernelSource spin_kernel_source(const std::string& architecture);

class Meter {
 public:
  struct Options {
    int warm_ups = 5;
    int samples = 30;
    /// Longer than the host takes to queue one sample.
    double spin_seconds = 0.3e-3;
  };
  /// Queues the work of one sample on `stream` and returns; the device's context is current.
  using Work = std::function<void(int iteration, DriverStream stream)>;

  /// The device must outlive the meter.
  Meter(const Device& device, std::span<const char> spin_cubin);
  ~Meter();
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  Timing measure(const Work& work, const Options& options);
  /// Interleaved; one Timing per version, in the order given. Sample i of all versions is told the
  /// same iteration. Throws what `work` throws, and kDriverError for a kernel that failed.
  std::vector<Timing> compare(std::span<const Work> versions, const Options& options);

  DriverStream stream() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle
