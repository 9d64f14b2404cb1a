#include "runtime/measure.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/driver_api.hpp"

namespace heddle {
namespace {

constexpr const char* kSpinEntry = "heddle_spin";

// Waits on the wall clock and writes the cycles and nanoseconds that passed. Kept here and not
// among the templates: it measures kernels and is part of none.
constexpr const char* kSpinSource = R"(// Occupies one thread for a while; measures the SM clock.
struct SpinParameters {
  unsigned long long nanoseconds;
  unsigned long long* result;
};

__device__ inline unsigned long long global_nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

extern "C" __global__ void heddle_spin(const SpinParameters parameters) {
  const unsigned long long start = global_nanoseconds();
  const long long first_cycle = clock64();
  unsigned long long elapsed = 0;
  while (elapsed < parameters.nanoseconds) elapsed = global_nanoseconds() - start;
  parameters.result[0] = clock64() - first_cycle;
  parameters.result[1] = elapsed;
}
)";

struct SpinResult {
  unsigned long long cycles = 0;
  unsigned long long nanoseconds = 0;
};

/// The layout of the source above.
struct SpinParameters {
  unsigned long long nanoseconds = 0;
  SpinResult* result = nullptr;
};

/// Events of one run; destroyed with it, whatever happened.
class Events {
 public:
  Events(const Driver::Api& api, std::size_t count) : api_(api) {
    events_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      DriverEvent event = nullptr;
      check_driver(api_, api_.cuEventCreate(&event, 0), "cuEventCreate");
      events_.push_back(event);
    }
  }
  ~Events() {
    for (DriverEvent event : events_) api_.cuEventDestroy(event);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  void record(std::size_t index, DriverStream stream) const {
    check_driver(api_, api_.cuEventRecord(events_[index], stream), "cuEventRecord");
  }
  double seconds_between(std::size_t start, std::size_t end) const {
    float milliseconds = 0;
    check_driver(api_, api_.cuEventElapsedTime(&milliseconds, events_[start], events_[end]),
                 "cuEventElapsedTime");
    return milliseconds * 1e-3;
  }

 private:
  const Driver::Api& api_;
  std::vector<DriverEvent> events_;
};

/// The SM clock before every sample of the version whose first slot this is.
std::vector<double> read_clocks_mhz(const std::vector<SpinResult>& results, std::size_t first,
                                    std::size_t stride) {
  std::vector<double> clocks;
  for (std::size_t i = first; i < results.size(); i += stride) {
    const auto nanoseconds = static_cast<double>(results[i].nanoseconds);
    const auto cycles = static_cast<double>(results[i].cycles);
    clocks.push_back(nanoseconds == 0 ? 0 : 1e3 * cycles / nanoseconds);
  }
  return clocks;
}

double median_clock_mhz(std::vector<double> clocks) {
  std::erase(clocks, 0.0);
  return quantile(std::move(clocks), 0.5);
}

}  // namespace

double quantile(std::vector<double> samples, double fraction) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const double position = fraction * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  const double weight = position - static_cast<double>(below);
  return samples[below] + weight * (samples[above] - samples[below]);
}

void summarise(Timing& timing) {
  timing.median_seconds = quantile(timing.seconds, 0.5);
  timing.spread_seconds = quantile(timing.seconds, 0.75) - quantile(timing.seconds, 0.25);
  timing.clock_mhz = median_clock_mhz(timing.clocks_mhz);
}

KernelSource spin_kernel_source(const std::string& architecture) {
  KernelSource source;
  source.entry = kSpinEntry;
  source.architecture = architecture;
  source.main = {"heddle_spin.cu", kSpinSource};
  return source;
}

struct Meter::State {
  const Device& device;
  DriverModule module = nullptr;
  DriverFunction spin = nullptr;
  DriverStream stream = nullptr;

  explicit State(const Device& used_device) : device(used_device) {}
  // Errors are dropped: a driver that has shut down took stream and module along.
  ~State() {
    if (api().cuCtxPushCurrent(device.context()) != kDriverSuccess) return;
    if (stream != nullptr) api().cuStreamDestroy(stream);
    if (module != nullptr) api().cuModuleUnload(module);
    DriverContext popped = nullptr;
    api().cuCtxPopCurrent(&popped);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const Driver::Api& api() const { return device.driver().api(); }
  void launch_spin(double seconds, SpinResult* result) const;
  void wait() const;
  std::vector<Timing> run(std::span<const Work> versions, const Options& options) const;
};

void Meter::State::launch_spin(double seconds, SpinResult* result) const {
  SpinParameters parameters{static_cast<unsigned long long>(seconds * 1e9), result};
  void* arguments[] = {&parameters};
  check_driver(api(), api().cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr),
               "cuLaunchKernel of heddle_spin");
}

void Meter::State::wait() const {
  check_driver(api(), api().cuStreamSynchronize(stream), "cuStreamSynchronize after measuring");
}

std::vector<Timing> Meter::State::run(std::span<const Work> versions,
                                      const Options& options) const {
  const std::size_t count = versions.size();
  const auto samples = static_cast<std::size_t>(options.samples);
  for (int iteration = 0; iteration < options.warm_ups; ++iteration) {
    for (const Work& work : versions) work(iteration, stream);
  }
  DeviceBuffer spins(device, samples * count * sizeof(SpinResult));
  spins.fill(0);
  const Events events(api(), 2 * samples * count);
  for (std::size_t sample = 0; sample < samples; ++sample) {
    for (std::size_t turn = 0; turn < count; ++turn) {
      const std::size_t version = sample % 2 == 0 ? turn : count - 1 - turn;
      const std::size_t slot = sample * count + version;
      launch_spin(options.spin_seconds, static_cast<SpinResult*>(spins.data()) + slot);
      events.record(2 * slot, stream);
      versions[version](options.warm_ups + static_cast<int>(sample), stream);
      events.record(2 * slot + 1, stream);
    }
  }
  wait();
  std::vector<SpinResult> results(samples * count);
  spins.download(results.data(), spins.bytes());

  std::vector<Timing> timings(count);
  for (std::size_t version = 0; version < count; ++version) {
    Timing& timing = timings[version];
    for (std::size_t slot = version; slot < samples * count; slot += count) {
      timing.seconds.push_back(events.seconds_between(2 * slot, 2 * slot + 1));
    }
    timing.clocks_mhz = read_clocks_mhz(results, version, count);
    summarise(timing);
  }
  return timings;
}

Meter::Meter(const Device& device, std::span<const char> spin_cubin)
    : state_(std::make_unique<State>(device)) {
  const Driver::Api& api = state_->api();
  const ContextScope scope(api, device.context());
  check_driver(api, api.cuModuleLoadData(&state_->module, spin_cubin.data()),
               "cuModuleLoadData of heddle_spin");
  check_driver(api, api.cuModuleGetFunction(&state_->spin, state_->module, kSpinEntry),
               "cuModuleGetFunction of heddle_spin");
  check_driver(api, api.cuStreamCreate(&state_->stream, kStreamNonBlocking), "cuStreamCreate");
}

Meter::~Meter() = default;

Timing Meter::measure(const Work& work, const Options& options) {
  return compare({&work, 1}, options).front();
}

std::vector<Timing> Meter::compare(std::span<const Work> versions, const Options& options) {
  if (options.samples < 1 || options.warm_ups < 0) {
    throw Error(ErrorCode::kInvalidArgument, "samples",
                "samples: " + std::to_string(options.samples) + " with " +
                    std::to_string(options.warm_ups) +
                    " warm-ups cannot be measured; ask for at least 1 sample and 0 warm-ups");
  }
  const ContextScope scope(state_->api(), state_->device.context());
  return state_->run(versions, options);
}

DriverStream Meter::stream() const {
  return state_->stream;
}

}  // namespace heddle
