// From which counter a launch draws its tiles.
#include <set>

#include <catch2/catch.hpp>

#include "runtime/device.hpp"
#include "runtime/loaded_config.hpp"
#include "runtime/tile_counters.hpp"
#include "tests/fake_driver/fake_cuda_handle.hpp"
#include "tests/runtime/error_matcher.hpp"

namespace heddle {
namespace {

const std::string kFakePath = HEDDLE_FAKE_CUDA_PATH;

struct Fixture {
  FakeCuda fake{kFakePath};
  Device device{Driver::load(kFakePath), 0};
  std::vector<char> cubin = fake_cubin({{"heddle_fa3_attention", 8}});
  DriverModule module = nullptr;
  TileCounters counters;

  Fixture() {
    const ContextScope scope(device.driver().api(), device.context());
    const auto& api = device.driver().api();
    check_driver(api, api.cuModuleLoadData(&module, cubin.data()), "load");
    counters.find(api, module);
  }
};

}  // namespace

TEST_CASE("launches take counters by turns, and captured ones keep theirs") {
  Fixture test;
  constexpr int kLaunches = 1 << 16, kCaptures = 1 << 14;
  unsigned* first = test.counters.take(false);
  std::set<unsigned*> captured;
  for (int i = 0; i < kCaptures; ++i) captured.insert(test.counters.take(true));
  CHECK(captured.size() == kCaptures);
  std::set<unsigned*> launched{first};
  for (int i = 1; i < kLaunches; ++i) launched.insert(test.counters.take(false));
  CHECK(launched.size() == kLaunches);
  CHECK(test.counters.take(false) == first);
  for (unsigned* counter : captured) REQUIRE(launched.count(counter) == 0);
  // No counter is left for a graph: blocks go by turns.
  CHECK(test.counters.take(true) == nullptr);
  CHECK(test.counters.take(false) == first + 1);
}

TEST_CASE("a module that should have counters and has none is an error") {
  Fixture test;
  test.fake.fail_next("cuModuleGetGlobal_v2", kDriverNotFound);
  TileCounters counters;
  const ContextScope scope(test.device.driver().api(), test.device.context());
  CHECK_THROWS_AS(counters.find(test.device.driver().api(), test.module), Error);
  CHECK(counters.take(false) == nullptr);
}

}  // namespace heddle
