#pragma once
// Counters from which the blocks of a launch draw their tiles.

#include <atomic>

#include "runtime/driver_api.hpp"

namespace heddle {

/// The counters of one module: zeros that the kernel leaves as it found them. Launches take them by
/// turns: one comes round again after 65536 others, more than streams can hold back. A captured
/// launch keeps its counter, since the graph may run whenever it likes.
class TileCounters {
 public:
  TileCounters() = default;
  /// Throws where the module has none, or another number of them.
  void find(const Driver::Api& api, DriverModule module);

  /// Null where there are none, or graphs have taken all of theirs: blocks then go by turns.
  unsigned* take(bool is_captured);

 private:
  DevicePointer base_ = 0;
  std::atomic<unsigned> launches_{0};
  std::atomic<unsigned> captures_{0};
};

}  // namespace heddle
