// Measuring, in the virtual time of the fake driver: every launch takes what the test says.

#include "runtime/measure.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <stdexcept>
#include <string>

#include "runtime/driver_api.hpp"
#include "tests/fake_driver/fake_cuda_handle.hpp"
#include "tests/runtime/error_matcher.hpp"

namespace heddle {
namespace {

const std::string kFakePath = HEDDLE_FAKE_CUDA_PATH;

/// In place of the spin kernel: what it writes on a device that runs at 1500 MHz.
void run_spin(const FakeLaunch* launch, void*) {
  if (std::string(launch->kernel) != "heddle_spin") return;
  struct {
    unsigned long long nanoseconds;
    unsigned long long* result;
  } parameters{};
  std::memcpy(&parameters, launch->parameters, sizeof parameters);
  parameters.result[0] = parameters.nanoseconds * 3 / 2;
  parameters.result[1] = parameters.nanoseconds;
}

struct Fixture {
  FakeCuda fake{kFakePath};
  Device device{Driver::load(kFakePath), 0};
  Meter meter{device, fake_cubin({{"heddle_spin", 16}})};
  DriverFunction kernel = load_kernel();

  const Driver::Api& api() const { return device.driver().api(); }
  DriverFunction load_kernel() const {
    const ContextScope scope(api(), device.context());
    DriverModule module = nullptr;
    DriverFunction function = nullptr;
    check_driver(api(), api().cuModuleLoadData(&module, fake_cubin({{"work", 0}}).data()), "load");
    check_driver(api(), api().cuModuleGetFunction(&function, module, "work"), "find");
    return function;
  }
  /// One launch that takes this long.
  void launch(double seconds, DriverStream stream) const {
    fake.set_launch_seconds(seconds);
    check_driver(api(),
                 api().cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr),
                 "cuLaunchKernel of work");
  }
};

TEST_CASE("Quantiles interpolate between the samples") {
  CHECK(quantile({}, 0.5) == 0);
  CHECK(quantile({3}, 0.75) == 3);
  CHECK(quantile({4, 1, 3, 2}, 0.5) == Approx(2.5));
  CHECK(quantile({5, 1, 4, 2, 3}, 0.25) == Approx(2));
  CHECK(quantile({5, 1, 4, 2, 3}, 1) == Approx(5));
}

TEST_CASE("Samples are timed after the warm-ups, without the spin kernel") {
  Fixture test;
  test.fake.on_launch(&run_spin, nullptr);
  std::vector<int> iterations;
  const auto work = [&](int iteration, DriverStream stream) {
    iterations.push_back(iteration);
    CHECK(stream == test.meter.stream());
    test.launch(iteration * 1e-3, stream);
  };
  const Timing timing = test.meter.measure(work, {.warm_ups = 2, .samples = 5});
  CHECK(iterations == std::vector<int>{0, 1, 2, 3, 4, 5, 6});
  REQUIRE(timing.seconds.size() == 5);
  CHECK(timing.seconds.front() == Approx(2e-3));
  CHECK(timing.median_seconds == Approx(4e-3));
  CHECK(timing.spread_seconds == Approx(2e-3));
  CHECK(timing.clock_mhz == Approx(1500));
  // A spin before each sample, none before a warm-up; all on one stream of the meter's own.
  CHECK(test.fake.launch_count() == 2 + 2 * 5);
  FakeLaunch launch;
  for (int i = 0; i < 12; ++i) {
    REQUIRE(test.fake.launch(i, &launch));
    CHECK(launch.kernel == std::string(i >= 2 && i % 2 == 0 ? "heddle_spin" : "work"));
    CHECK(launch.stream == test.meter.stream());
  }
}

TEST_CASE("Versions take turns in alternating order") {
  Fixture test;
  std::string order;
  const auto version = [&](char name, double seconds) {
    return [&, name, seconds](int, DriverStream stream) {
      order += name;
      test.launch(seconds, stream);
    };
  };
  const std::vector<Meter::Work> versions{version('a', 1e-3), version('b', 2e-3),
                                          version('c', 3e-3)};
  const auto timings = test.meter.compare(versions, {.warm_ups = 1, .samples = 4});
  CHECK(order ==
        "abc"
        "abc"
        "cba"
        "abc"
        "cba");
  REQUIRE(timings.size() == 3);
  CHECK(timings[0].median_seconds == Approx(1e-3));
  CHECK(timings[1].median_seconds == Approx(2e-3));
  CHECK(timings[2].median_seconds == Approx(3e-3));
  CHECK(timings[2].spread_seconds == Approx(0).margin(1e-9));
  // The fake ran no spin kernel, so there is no clock to tell.
  CHECK(timings[0].clock_mhz == 0);
}

TEST_CASE("A failing version ends the run and leaves nothing behind") {
  Fixture test;
  const auto fails = [](int iteration, DriverStream) {
    if (iteration == 3) throw std::runtime_error("refused");
  };
  CHECK_THROWS_WITH(test.meter.measure(fails, {.warm_ups = 1, .samples = 9}), "refused");
  CHECK(test.fake.call_count("cuEventDestroy_v2") == test.fake.call_count("cuEventCreate"));
  CHECK(test.fake.live_allocations() == 0);
  DriverContext current = &test;
  test.api().cuCtxGetCurrent(&current);
  CHECK(current == nullptr);
}

TEST_CASE("A kernel that faults is reported by the wait") {
  Fixture test;
  test.fake.fail_nth("cuStreamSynchronize", 2, kDriverIllegalAddress);
  const auto work = [&](int, DriverStream stream) { test.launch(1e-3, stream); };
  require_error(ErrorCode::kDriverError, {"CUDA_ERROR_ILLEGAL_ADDRESS", "cuStreamSynchronize"},
                [&] { test.meter.measure(work, {.warm_ups = 0, .samples = 2}); });
}

TEST_CASE("Measuring without samples is refused") {
  Fixture test;
  require_error(ErrorCode::kInvalidArgument, {"samples", "0"}, [&] {
    test.meter.measure([](int, DriverStream) {}, {.warm_ups = 0, .samples = 0});
  });
}

TEST_CASE("The spin kernel is compiled for the device asked for") {
  const KernelSource source = spin_kernel_source("sm_80");
  CHECK(source.architecture == "sm_80");
  CHECK_THAT(source.main.text, Catch::Contains("__global__ void " + source.entry + "("));
}

}  // namespace
}  // namespace heddle
