// Loading and launching a config's kernels (C14, C18, C36, C40, C59).

#include "runtime/loaded_config.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

#include "runtime/device.hpp"
#include "runtime/driver_api.hpp"
#include "tests/fake_driver/fake_cuda_handle.hpp"
#include "tests/runtime/error_matcher.hpp"

namespace heddle {
namespace {

const std::string kFakePath = HEDDLE_FAKE_CUDA_PATH;
constexpr std::size_t kParameterBytes = sizeof(AttentionParameters);

/// A split config's two kernels; the first needs more shared memory than comes without asking.
struct Fixture {
  FakeCuda fake{kFakePath};
  Device device{Driver::load(kFakePath), 0};
  std::vector<char> attention = fake_cubin({{"heddle_attention", kParameterBytes}});
  std::vector<char> combine = fake_cubin({{"heddle_combine", kParameterBytes}});
  std::vector<KernelImage> images{
      {KernelPart::kFa2Attention, "heddle_attention", attention, 100000, "sm_90a", "NVRTC 13.0"},
      {KernelPart::kSplitCombine, "heddle_combine", combine, 0, "sm_90a", "NVRTC 13.0"}};
  LaunchPlan plan = two_parts();
  AttentionParameters parameters = some_parameters();

  static LaunchPlan two_parts() {
    LaunchPlan plan;
    plan.launches[0] = {KernelPart::kFa2Attention, 70000, 128, 100000};
    plan.launches[1] = {KernelPart::kSplitCombine, 33, 256, 0};
    plan.count = 2;
    return plan;
  }
  static AttentionParameters some_parameters() {
    AttentionParameters parameters{};
    parameters.batch = 3;
    parameters.score_pitch = 1LL << 40;
    return parameters;
  }
  LoadedConfig load() const {
    return LoadedConfig(device.driver_pointer(), device.context(), images);
  }
  FakeLaunch launched(long long index) const {
    FakeLaunch launch;
    REQUIRE(fake.launch(index, &launch));
    return launch;
  }
  DriverContext current() const {
    DriverContext context = nullptr;
    device.driver().api().cuCtxGetCurrent(&context);
    return context;
  }
};

TEST_CASE("Loading opts in to shared memory where it must, and restores the context") {
  const Fixture test;
  {
    const LoadedConfig config = test.load();
    CHECK(test.fake.live_modules() == 2);
    CHECK(test.fake.shared_opt_in(test.device.context(), "heddle_attention") == 100000);
    CHECK(test.fake.call_count("cuFuncSetAttribute") == 1);
    CHECK(config.context() == test.device.context());
    CHECK(config.resources(KernelPart::kFa2Attention).registers > 0);
    CHECK(config.resources(KernelPart::kFa1Attention).registers == 0);
    CHECK(test.current() == nullptr);
  }
  CHECK(test.fake.live_modules() == 0);
  CHECK(test.current() == nullptr);
}

TEST_CASE("A launch carries geometry, parameters and stream, part by part") {
  const Fixture test;
  const LoadedConfig config = test.load();
  test.device.make_current();
  const bool null_stream = GENERATE(true, false);
  const DriverStream stream =
      null_stream ? nullptr : test.fake.create_stream(test.device.context());
  config.launch(test.plan, test.parameters, stream);
  REQUIRE(test.fake.launch_count() == 2);
  for (int i = 0; i < 2; ++i) {
    const FakeLaunch launch = test.launched(i);
    CHECK(launch.stream == stream);
    CHECK(launch.context == test.device.context());
    REQUIRE(launch.parameter_bytes == kParameterBytes);
    CHECK(std::memcmp(launch.parameters, &test.parameters, kParameterBytes) == 0);
    CHECK((launch.grid[1] == 1 && launch.grid[2] == 1));
    CHECK((launch.block[1] == 1 && launch.block[2] == 1));
  }
  CHECK(test.launched(0).kernel == std::string("heddle_attention"));
  CHECK(test.launched(0).grid[0] == 70000);
  CHECK(test.launched(0).block[0] == 128);
  CHECK(test.launched(0).shared_bytes == 100000);
  CHECK(test.launched(1).kernel == std::string("heddle_combine"));
  CHECK(test.launched(1).grid[0] == 33);
  CHECK(test.launched(1).block[0] == 256);
}

TEST_CASE("A launch makes one driver call per part and no other") {
  const Fixture test;
  const LoadedConfig config = test.load();
  test.device.make_current();
  const long long before = test.fake.total_calls();
  config.launch(test.plan, test.parameters, nullptr);
  CHECK(test.fake.total_calls() - before == 2);
  config.launch(LaunchPlan{}, test.parameters, nullptr);
  CHECK(test.fake.total_calls() - before == 2);
}

TEST_CASE("A refused launch names error, kernel and geometry; later launches work") {
  Fixture test;
  const LoadedConfig config = test.load();
  test.device.make_current();
  const std::vector<std::string> words{"CUDA_ERROR_INVALID_VALUE", "heddle_attention",
                                       "128 threads", "100000 B"};
  SECTION("by the driver's whim") {
    test.fake.fail_next("cuLaunchKernel", kDriverInvalidValue);
    require_error(ErrorCode::kDriverError, words,
                  [&] { config.launch(test.plan, test.parameters, nullptr); });
    // The second part would have read what the first did not write.
    CHECK(test.fake.launch_count() == 0);
  }
  SECTION("for a grid that is too large") {
    test.plan.launches[0].grid = 0x80000000u;
    require_error(ErrorCode::kDriverError, words,
                  [&] { config.launch(test.plan, test.parameters, nullptr); });
    test.plan = Fixture::two_parts();
  }
  config.launch(test.plan, test.parameters, nullptr);
  CHECK(test.fake.launch_count() == 2);
}

TEST_CASE("A fault that the context held before is reported as such, and stays") {
  const Fixture test;
  const LoadedConfig config = test.load();
  test.device.make_current();
  test.fake.set_sticky_error(test.device.context(), kDriverIllegalAddress);
  for (int i = 0; i < 2; ++i) {
    require_error(ErrorCode::kDriverError,
                  {"already held CUDA_ERROR_ILLEGAL_ADDRESS", "heddle_attention", "earlier"},
                  [&] { config.launch(test.plan, test.parameters, nullptr); });
  }
  CHECK(test.fake.launch_count() == 0);
}

TEST_CASE("More shared memory than the device grants is refused when loading") {
  FakeDevice small;
  small.shared_bytes_per_block = 101376;
  Fixture test;
  test.fake.set_device_list({small});
  test.images[0].shared_bytes = 150000;
  require_error(ErrorCode::kDriverError,
                {"150000 B of shared memory", "heddle_attention", "CUDA_ERROR_INVALID_VALUE"},
                [&] { test.load(); });
  CHECK(test.fake.live_modules() == 0);
  CHECK(test.current() == nullptr);
}

TEST_CASE("A refused image names both versions and the remedy") {
  Fixture test;
  const std::vector<std::string> words{"heddle_attention", "13.0", "sm_90a", "NVRTC 13.0",
                                       "$HEDDLE_NVRTC"};
  SECTION("PTX that is newer than the driver") {
    const std::string ptx = ".version 9.0\n.target sm_90a\n";
    test.images[0].cubin = {ptx.c_str(), ptx.size() + 1};
    require_error(ErrorCode::kDriverError, words, [&] { test.load(); });
  }
  SECTION("a cubin for another architecture") {
    test.fake.fail_next("cuModuleLoadData", kDriverNoBinaryForGpu);
    require_error(ErrorCode::kDriverError, words, [&] { test.load(); });
  }
}

TEST_CASE("A half-done load is undone") {
  Fixture test;
  SECTION("no such kernel") {
    test.images[1].entry = "heddle_missing";
    require_error(ErrorCode::kDriverError, {"heddle_missing", "CUDA_ERROR_NOT_FOUND"},
                  [&] { test.load(); });
  }
  SECTION("no memory for the second module") {
    test.fake.fail_nth("cuModuleLoadData", 2, kDriverOutOfMemory);
    require_error(ErrorCode::kOutOfMemory, {"heddle_combine", "CUDA_ERROR_OUT_OF_MEMORY"},
                  [&] { test.load(); });
  }
  CHECK(test.fake.live_modules() == 0);
}

TEST_CASE("A launch may be captured, a load may not") {
  const Fixture test;
  const LoadedConfig config = test.load();
  test.device.make_current();
  const DriverStream stream = test.fake.create_stream(test.device.context());
  test.fake.set_capturing(stream, true);
  config.launch(test.plan, test.parameters, stream);
  CHECK(test.launched(1).captured);
  require_error(ErrorCode::kDriverError, {"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
                [&] { test.load(); });
}

TEST_CASE("Contexts of one device are loaded and launched apart") {
  const Fixture test;
  const DriverContext second = test.fake.create_context(0);
  const LoadedConfig here = test.load();
  const LoadedConfig there(test.device.driver_pointer(), second, test.images);
  CHECK(test.fake.shared_opt_in(second, "heddle_attention") == 100000);
  const Driver::Api& api = test.device.driver().api();
  {
    const ContextScope scope(api, second);
    there.launch(test.plan, test.parameters, nullptr);
    CHECK(test.launched(1).context == second);
    require_error(ErrorCode::kDriverError, {"CUDA_ERROR_INVALID_CONTEXT"},
                  [&] { here.launch(test.plan, test.parameters, nullptr); });
  }
}

TEST_CASE("Kernels know when their context was reset under them") {
  const Fixture test;
  const LoadedConfig config = test.load();
  test.device.make_current();
  CHECK(config.is_loaded());
  test.fake.reset_context(test.device.context());
  CHECK_FALSE(config.is_loaded());
  require_error(ErrorCode::kDriverError, {"CUDA_ERROR_INVALID_HANDLE", "heddle_attention"},
                [&] { config.launch(test.plan, test.parameters, nullptr); });
  // What is loaded anew works in the same context.
  const LoadedConfig again = test.load();
  again.launch(test.plan, test.parameters, nullptr);
  CHECK(test.fake.launch_count() == 2);
}

TEST_CASE("A part that is not loaded is a fault of ours") {
  Fixture test;
  test.images.pop_back();
  const LoadedConfig config = test.load();
  test.device.make_current();
  require_error(ErrorCode::kInternal, {"split_combine"},
                [&] { config.launch(test.plan, test.parameters, nullptr); });
}

TEST_CASE("Any number of threads may launch") {
  const Fixture test;
  const LoadedConfig config = test.load();
  const auto work = [&] {
    test.device.make_current();
    for (int i = 0; i < 1000; ++i) config.launch(test.plan, test.parameters, nullptr);
  };
  std::thread one(work);
  std::thread two(work);
  one.join();
  two.join();
  CHECK(test.fake.launch_count() == 4000);
  CHECK(test.fake.call_count("cuLaunchKernel") == 4000);
}

TEST_CASE("Unloading after the driver or the context is gone is silent") {
  const Fixture test;
  const DriverContext second = test.fake.create_context(0);
  auto config = std::make_unique<LoadedConfig>(test.device.driver_pointer(), second, test.images);
  SECTION("driver shut down") {
    test.fake.fail_all(kDriverDeinitialized);
  }
  SECTION("context destroyed") {
    test.fake.destroy_context(second);
  }
  REQUIRE_NOTHROW(config.reset());
}

}  // namespace
}  // namespace heddle
