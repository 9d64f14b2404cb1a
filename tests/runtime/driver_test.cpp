// Finding, refusing and starting the driver (C18, C36, C41).

#include "runtime/driver.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "runtime/driver_api.hpp"
#include "tests/fake_driver/fake_cuda_handle.hpp"
#include "tests/runtime/error_matcher.hpp"

namespace heddle {
namespace {

const std::string kFakePath = HEDDLE_FAKE_CUDA_PATH;

/// A copy of the fake elsewhere: to the loader it is another library, with a state of its own.
class FakeCopy {
 public:
  explicit FakeCopy(const std::string& folder)
      : root_(std::filesystem::temp_directory_path() /
              ("heddle_driver_test_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(root_ / folder);
    path_ = root_ / folder / "libcuda.so.1";
    std::filesystem::copy_file(kFakePath, path_);
  }
  ~FakeCopy() { std::filesystem::remove_all(root_); }
  std::string path() const { return path_; }

 private:
  std::filesystem::path root_;
  std::filesystem::path path_;
};

TEST_CASE("A driver is loaded by path and tells version, file and devices") {
  const FakeCuda fake(kFakePath);
  fake.set_device_list({FakeDevice{}, FakeDevice{}, FakeDevice{}});
  fake.set_version(12040);
  const auto driver = Driver::load(kFakePath);
  CHECK(driver->version() == 12040);
  CHECK(driver->device_count() == 3);
  CHECK(std::filesystem::equivalent(driver->library_path(), kFakePath));
  CHECK(fake.call_count("cuInit") == 1);
}

TEST_CASE("Entry points come from exported symbols where cuGetProcAddress knows none") {
  const FakeCuda fake(kFakePath);
  fake.set_proc_address(0);
  const auto driver = Driver::load(kFakePath);
#define HEDDLE_CHECK_RESOLVED(member, symbol, ...) CHECK(driver->api().member != nullptr);
  HEDDLE_DRIVER_ENTRY_POINTS(HEDDLE_CHECK_RESOLVED)
#undef HEDDLE_CHECK_RESOLVED
  CHECK(driver->device_name(0) == "Fake H200");
}

TEST_CASE("The environment names the driver when no path is given") {
  const FakeCuda fake(kFakePath);
  ::setenv("HEDDLE_CUDA_DRIVER", kFakePath.c_str(), 1);
  CHECK(std::filesystem::equivalent(Driver::load("")->library_path(), kFakePath));
  ::setenv("HEDDLE_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
  require_error(ErrorCode::kDriverMissing, {"/nowhere/libcuda.so.1"}, [] { Driver::load(""); });
  // A given path wins.
  CHECK(Driver::load(kFakePath)->device_count() == 1);
  ::unsetenv("HEDDLE_CUDA_DRIVER");
}

TEST_CASE("A missing driver is named, with what to install") {
  require_error(
      ErrorCode::kDriverMissing,
      {"no CUDA driver", "libcuda.so.1", "/nowhere/libfoo.so", "install the NVIDIA driver"},
      [] { Driver::load("/nowhere/libfoo.so"); });
}

TEST_CASE("A library that is no driver is refused") {
  require_error(ErrorCode::kDriverMissing, {"libm.so", "not a CUDA driver"},
                [] { Driver::load("libm.so.6"); });
}

TEST_CASE("The toolkit's stub is recognised by its answers") {
  const FakeCuda fake(kFakePath);
  SECTION("from every call") {
    fake.fail_all(kDriverStubLibrary);
  }
  SECTION("from cuInit") {
    fake.fail_next("cuInit", kDriverStubLibrary);
  }
  require_error(ErrorCode::kDriverMissing,
                {"found only the CUDA stub driver at", "libheddle_fake_cuda.so"},
                [] { Driver::load(kFakePath); });
}

TEST_CASE("The toolkit's stub is recognised by its folder") {
  const FakeCopy copy("lib64/stubs");
  require_error(ErrorCode::kDriverMissing,
                {"found only the CUDA stub driver at", "stubs/libcuda.so.1"},
                [&] { Driver::load(copy.path()); });
}

TEST_CASE("A driver that is too old is named with its version and the remedy") {
  const FakeCuda fake(kFakePath);
  fake.set_version(11080);
  require_error(ErrorCode::kDriverMissing, {"11.8", "12.0", "install NVIDIA driver 525"},
                [] { Driver::load(kFakePath); });
  CHECK(fake.call_count("cuInit") == 0);
}

TEST_CASE("A driver without devices is told apart from no driver") {
  const FakeCuda fake(kFakePath);
  SECTION("cuInit says so") {
    fake.fail_next("cuInit", kDriverNoDevice);
  }
  SECTION("the list is empty") {
    fake.set_device_list({});
  }
  require_error(ErrorCode::kDeviceMissing, {"device", "nvidia-smi", "CUDA_VISIBLE_DEVICES"},
                [] { Driver::load(kFakePath); });
}

TEST_CASE("A failing start reports the driver's name for the error") {
  const FakeCuda fake(kFakePath);
  fake.fail_next("cuInit", kDriverOutOfMemory);
  require_error(ErrorCode::kOutOfMemory, {"cuInit", "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
                [] { Driver::load(kFakePath); });
  fake.fail_next("cuDeviceGetCount", 12345);
  require_error(ErrorCode::kDriverError, {"cuDeviceGetCount", "driver error 12345"},
                [] { Driver::load(kFakePath); });
  CHECK(Driver::load(kFakePath)->device_count() == 1);
}

TEST_CASE("A loaded driver stays in the process when its last user is gone") {
  const FakeCopy copy("kept");
  Driver::load(copy.path()).reset();
  CHECK(dlopen(copy.path().c_str(), RTLD_NOW | RTLD_NOLOAD) != nullptr);
}

TEST_CASE("A fault of earlier work is not blamed on the call that met it") {
  const FakeCuda fake(kFakePath);
  const auto driver = Driver::load(kFakePath);
  require_error(ErrorCode::kDriverError,
                {"already held CUDA_ERROR_ILLEGAL_ADDRESS", "cuMemAlloc", "submitted earlier"},
                [&] { throw_driver_error(driver->api(), kDriverIllegalAddress, "cuMemAlloc"); });
  CHECK_FALSE(is_earlier_fault(kDriverInvalidValue));
  CHECK_FALSE(is_earlier_fault(701));  // out of launch resources: this launch's own
}

TEST_CASE("Device limits join live attributes with the architecture's row") {
  const FakeCuda fake(kFakePath);
  FakeDevice slice;  // C63: a MIG slice of the same silicon
  slice.sm_count = 16;
  slice.l2_bytes = 7 << 20;
  FakeDevice small;  // C59: an sm_86 part with 99 KB
  small.capability_major = 8;
  small.capability_minor = 6;
  small.shared_bytes_per_block = 101376;
  small.clock_khz = 0;
  small.memory_clock_khz = 0;
  fake.set_device_list({FakeDevice{}, slice, small});
  const auto driver = Driver::load(kFakePath);

  const DeviceLimits full = driver->device_limits(0);
  CHECK(full.architecture == "sm_90a");
  CHECK(full.sm_count == 132);
  CHECK(full.shared_bytes_per_block == 232448);
  CHECK(full.shared_bytes_per_sm == 233472);
  CHECK(full.registers_per_sm == 65536);
  CHECK(full.threads_per_sm == 2048);
  CHECK(full.blocks_per_sm == 32);
  CHECK(full.l2_bytes == 60LL << 20);
  CHECK(full.clock_ghz == Approx(1.98));
  CHECK(full.hbm_bytes_per_second == Approx(2 * 3201e6 * 6144 / 8));
  CHECK(full.tensor_flops_per_clock_sm == find_architecture("sm_90a").tensor_flops_per_clock_sm);

  CHECK(driver->device_limits(1).sm_count == 16);
  CHECK(driver->device_limits(1).l2_bytes == 7LL << 20);
  CHECK(driver->device_limits(2).architecture == "sm_86");
  CHECK(driver->device_limits(2).shared_bytes_per_block == 101376);
  // Rates the device hides come from the table.
  CHECK(driver->device_limits(2).clock_ghz == find_architecture("sm_86").clock_ghz);
  CHECK(driver->device_limits(2).hbm_bytes_per_second ==
        find_architecture("sm_86").hbm_bytes_per_second);
}

TEST_CASE("A device of an unknown architecture is named with its capability") {
  const FakeCuda fake(kFakePath);
  FakeDevice future{"Fake Future"};
  future.capability_major = 13;
  future.capability_minor = 7;
  fake.set_device_list({future});
  const auto driver = Driver::load(kFakePath);
  require_error(ErrorCode::kUnsupported, {"Fake Future", "13.7", "sm_90a", "newer heddle"},
                [&] { driver->device_limits(0); });
  CHECK(driver->device_class(0).capability_major == 13);
}

TEST_CASE("The device class is silicon, not name") {
  const FakeCuda fake(kFakePath);
  fake.set_device_list({FakeDevice{}, FakeDevice{"Fake twin"}});
  const auto driver = Driver::load(kFakePath);
  const DeviceClass one = driver->device_class(0);
  const DeviceClass two = driver->device_class(1);
  CHECK(one.name == "Fake H200");
  CHECK(two.name == "Fake twin");
  CHECK(two.capability_major == 9);
  CHECK(two.capability_minor == 0);
  CHECK(two.sm_count == one.sm_count);
  CHECK(two.shared_bytes_per_block == one.shared_bytes_per_block);
  CHECK(two.l2_bytes == one.l2_bytes);
}

TEST_CASE("A device that does not exist is refused with how many there are") {
  const FakeCuda fake(kFakePath);
  const auto driver = Driver::load(kFakePath);
  for (const int device : {-1, 1}) {
    require_error(ErrorCode::kDeviceMissing, {"device " + std::to_string(device), "lists 1"},
                  [&] { driver->device_limits(device); });
  }
}

}  // namespace
}  // namespace heddle
