#pragma once
// Judges every access of one block: bounds, alignment, races, copies in flight.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/host/clocks.hpp"
#include "runtime/host/fault.hpp"
#include "runtime/host/memory_map.hpp"
#include "runtime/host/shadow.hpp"

namespace heddle {

struct Access {
  const void* address = nullptr;
  long long bytes = 0;
  bool write = false;
  bool aligned = false;  ///< the address has to be a multiple of the size
  int actor = 0;
  const void* where = nullptr;
};

/// Asynchronous work that owns a piece of shared memory until it has been waited for.
struct Flight {
  bool writes = true;  ///< false: others may read meanwhile
  FaultKind kind = FaultKind::kCopyInFlight;
  const void* where = nullptr;

  friend bool operator==(const Flight&, const Flight&) = default;
};

/// The findings of one block: each pair of places once.
class FaultLog {
 public:
  void begin_block(int block) { block_ = block; }
  void report(HostFault fault);
  std::vector<HostFault> take() { return std::move(faults_); }

 private:
  int block_ = 0;
  std::vector<HostFault> faults_;
};

class AccessCheck {
 public:
  AccessCheck(const MemoryMap& memory, FaultLog& log) : memory_(memory), log_(log) {}

  void begin_block(int block, unsigned char* shared, std::size_t shared_bytes, int actors);
  Clocks& clocks() { return clocks_; }

  /// False where the access must not happen: it would touch what is not the kernel's.
  bool touch(const Access& access);

  /// Shared memory only. A flight must be ended as it was begun.
  void begin_flight(const void* address, long long bytes, const Flight& flight);
  void end_flight(const void* address, long long bytes);

  bool is_shared(const void* address, long long bytes) const;

 private:
  static constexpr int kCell = 4;  ///< bytes that the smallest asynchronous copy writes

  bool refuse(const Access& access, FaultKind kind, std::string text);
  void touch_shared(const Access& access, std::size_t offset);
  void touch_global(const Access& access, const MemoryRegion& region);
  void record_range(const Access& access, std::uintptr_t first, bool shared);
  void note(const Access& access, FaultKind kind, std::string text, const void* other);

  const MemoryMap& memory_;
  FaultLog& log_;
  int block_ = 0;
  unsigned char* shared_ = nullptr;
  std::size_t shared_bytes_ = 0;
  Clocks clocks_;
  SharedShadow shared_shadow_;
  GlobalShadow global_shadow_;
  std::vector<std::uint16_t> cells_;  ///< flight of each cell, + 1
  std::vector<Flight> flights_;
};

}  // namespace heddle
