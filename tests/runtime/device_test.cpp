// Owners of contexts and device memory (C19, C90).

#include "runtime/device.hpp"

#include <catch2/catch.hpp>
#include <thread>

#include "runtime/driver_api.hpp"
#include "tests/fake_driver/fake_cuda_handle.hpp"
#include "tests/runtime/error_matcher.hpp"

namespace heddle {
namespace {

const std::string kFakePath = HEDDLE_FAKE_CUDA_PATH;

/// Two devices, loaded; each test starts from here.
struct Fixture {
  FakeCuda fake{kFakePath};
  std::shared_ptr<const Driver> driver = load();

  std::shared_ptr<const Driver> load() const {
    fake.set_device_list({FakeDevice{}, FakeDevice{}});
    return Driver::load(kFakePath);
  }
  DriverContext current() const {
    DriverContext context = nullptr;
    driver->api().cuCtxGetCurrent(&context);
    return context;
  }
};

TEST_CASE("A device retains its primary context while it lives") {
  const Fixture test;
  {
    const Device device(test.driver, 1);
    CHECK(device.ordinal() == 1);
    CHECK(device.limits().sm_count == 132);
    CHECK(device.device_class().name == "Fake H200");
    CHECK(test.fake.primary_references(1) == 1);
    CHECK(test.fake.primary_references(0) == 0);
    device.synchronize();
    CHECK(test.current() == nullptr);
    device.make_current();
    CHECK(test.current() == device.context());
  }
  CHECK(test.fake.primary_references(1) == 0);
}

TEST_CASE("A context that cannot be had is an error and leaks nothing") {
  const Fixture test;
  test.fake.fail_next("cuDevicePrimaryCtxRetain", kDriverOutOfMemory);
  require_error(ErrorCode::kOutOfMemory, {"cuDevicePrimaryCtxRetain", "CUDA_ERROR_OUT_OF_MEMORY"},
                [&] { Device(test.driver, 0); });
  CHECK(test.fake.call_count("cuDevicePrimaryCtxRelease_v2") == 0);
}

TEST_CASE("A buffer works on its own device and restores the caller's context") {
  const Fixture test;
  const Device first(test.driver, 0);
  const Device second(test.driver, 1);
  first.make_current();
  const std::size_t free_before = second.free_bytes();
  {
    DeviceBuffer buffer(second, 1000);
    CHECK(second.free_bytes() < free_before);
    CHECK(first.free_bytes() == FakeDevice{}.memory_bytes);
    const std::vector<unsigned char> sent(1000, 7);
    buffer.upload(sent.data(), sent.size());
    std::vector<unsigned char> received(1000);
    buffer.download(received.data(), received.size());
    CHECK(received == sent);
    int owner = -1;
    test.driver->api().cuPointerGetAttribute(&owner, PointerAttribute::kDeviceOrdinal,
                                             reinterpret_cast<DevicePointer>(buffer.data()));
    CHECK(owner == 1);
    CHECK(test.current() == first.context());
  }
  CHECK(test.fake.live_allocations() == 0);
  CHECK(test.current() == first.context());
}

TEST_CASE("Two threads use a device each") {
  const Fixture test;
  const auto work = [&](int ordinal) {
    const Device device(test.driver, ordinal);
    device.make_current();
    for (int i = 0; i < 100; ++i) {
      DeviceBuffer buffer(device, 64);
      buffer.fill(static_cast<unsigned char>(ordinal));
      unsigned char byte = 0xff;
      buffer.download(&byte, 1);
      if (byte != ordinal || test.current() != device.context()) return false;
    }
    return true;
  };
  bool other = false;
  std::thread thread([&] { other = work(1); });
  const bool mine = work(0);
  thread.join();
  CHECK(mine);
  CHECK(other);
}

TEST_CASE("Guard bands see a write on either side, and only there") {
  const Fixture test;
  const Device device(test.driver, 0);
  DeviceBuffer buffer(device, 1000, 256);
  CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256 == 0);
  auto* bytes = static_cast<unsigned char*>(buffer.data());  // the fake's memory is the host's
  buffer.fill(0xff);
  CHECK(buffer.guards_intact());
  CHECK((bytes[0] == 0xff && bytes[999] == 0xff));
  const int offset = GENERATE(-1, -256, 1000, 1255);
  bytes[offset] ^= 1;
  CHECK_FALSE(buffer.guards_intact());
}

TEST_CASE("A buffer may be empty and may be moved") {
  const Fixture test;
  const Device device(test.driver, 0);
  DeviceBuffer empty(device, 0);
  empty.fill(1);
  empty.upload(nullptr, 0);
  CHECK(empty.data() != nullptr);
  const DeviceBuffer moved(std::move(empty));
  CHECK(moved.bytes() == 0);
  CHECK(test.fake.live_allocations() == 1);
}

TEST_CASE("Too large a buffer names what was asked and what is free") {
  const Fixture test;
  const Device device(test.driver, 0);
  require_error(ErrorCode::kOutOfMemory, {"2147483648", "1073741824", "device 0"},
                [&] { DeviceBuffer(device, std::size_t{1} << 31); });
}

TEST_CASE("A transfer beyond a buffer's end is refused before the driver sees it") {
  const Fixture test;
  const Device device(test.driver, 0);
  DeviceBuffer buffer(device, 16);
  std::vector<char> host(32);
  require_error(ErrorCode::kInternal, {"upload of 17 bytes", "16"},
                [&] { buffer.upload(host.data(), 17); });
  require_error(ErrorCode::kInternal, {"download of 17 bytes", "16"},
                [&] { buffer.download(host.data(), 17); });
  CHECK(test.fake.call_count("cuMemcpyHtoD_v2") == 0);
  CHECK(test.fake.call_count("cuMemcpyDtoH_v2") == 0);
}

TEST_CASE("Owners outlive a driver that has shut down") {
  const Fixture test;
  auto device = std::make_unique<Device>(test.driver, 0);
  auto buffer = std::make_unique<DeviceBuffer>(*device, 64);
  test.fake.fail_all(kDriverDeinitialized);
  REQUIRE_NOTHROW(buffer.reset());
  REQUIRE_NOTHROW(device.reset());
}

}  // namespace
}  // namespace heddle
