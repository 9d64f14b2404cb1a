#include "runtime/tile_counters.hpp"

#include "generator/emit.hpp"

namespace heddle {
namespace {

constexpr unsigned kForLaunches = 1u << 16;
constexpr unsigned kForCaptures = kTileCounters - kForLaunches;

}  // namespace

void TileCounters::find(const Driver::Api& api, DriverModule module) {
  std::size_t bytes = 0;
  DevicePointer address = 0;
  const DriverResult result =
      api.cuModuleGetGlobal(&address, &bytes, module, kTileCountersName.data());
  check_driver(api, result, "cuModuleGetGlobal of the tile counters");
  if (bytes != kTileCounters * sizeof(unsigned)) {
    throw Error(ErrorCode::kInternal, "the module's tile counters take " + std::to_string(bytes) +
                                          " bytes, not " +
                                          std::to_string(kTileCounters * sizeof(unsigned)));
  }
  base_ = address;
}

unsigned* TileCounters::take(bool is_captured) {
  if (base_ == 0) return nullptr;
  auto* counters = reinterpret_cast<unsigned*>(base_);
  if (!is_captured) return counters + launches_++ % kForLaunches;
  unsigned mine = captures_.load();
  while (mine < kForCaptures && !captures_.compare_exchange_weak(mine, mine + 1)) {
  }
  return mine < kForCaptures ? counters + kForLaunches + mine : nullptr;
}

}  // namespace heddle
