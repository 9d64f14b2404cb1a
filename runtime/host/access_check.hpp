#pragma once
// Judges every access of one block: bounds, alignment, races, copies in flight.

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/host/async_reads.hpp"
#include "runtime/host/clocks.hpp"
#include "runtime/host/fault.hpp"
#include "runtime/host/memory_map.hpp"
#include "runtime/host/shadow.hpp"

namespace heddle {

/// Address of the first byte of shared memory, as kernels see it: aligned, and not 0.
constexpr unsigned kSharedBase = 0x400;

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

/// What a unit does to shared memory for a thread that goes on meanwhile.
struct AsyncAccess {
  std::size_t offset = 0;
  long long bytes = 0;
  std::span<const Clock> known;   ///< to the threads that started it
  std::span<const Clock> fenced;  ///< of that, what the async proxy sees
  int unit = 0;                   ///< who does it
  int starter = 0;                ///< the thread that reports name
  const void* where = nullptr;
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
  FaultLog& log() { return log_; }

  /// A unit of the block: `name` is what reports call it, "the copies onto the barrier at …".
  int add_unit(std::string name);
  /// The same with what it reads of shared memory on record.
  struct ReadingUnit {
    int actor = 0;
    int column = 0;
    FaultKind kind{};                 ///< of a write that comes too early
    std::vector<const void*> places;  ///< where each stamp was issued
  };
  ReadingUnit& add_reading_unit(std::string name, FaultKind kind);

  /// False where the access must not happen: it would touch what is not the kernel's.
  bool touch(const Access& access);
  /// Bounds and alignment alone.
  bool may_touch(const Access& access);

  // Shared memory, by a unit; the caller has checked the bounds.
  void write_async(const AsyncAccess& access);
  void read_async(const AsyncAccess& access, const ReadingUnit& unit);

  /// Shared memory only. A flight must be ended as it was begun.
  void begin_flight(const void* address, long long bytes, const Flight& flight);
  void end_flight(const void* address, long long bytes);

  bool is_shared(const void* address, long long bytes) const;
  std::size_t shared_offset(const void* address) const {
    return static_cast<std::size_t>(static_cast<const unsigned char*>(address) - shared_);
  }
  unsigned char* shared(std::size_t offset) const { return shared_ + offset; }
  std::size_t shared_bytes() const { return shared_bytes_; }
  const MemoryMap& memory() const { return memory_; }

  void note(const Access& access, FaultKind kind, std::string text, const void* other = nullptr);

 private:
  static constexpr int kCell = 4;  ///< bytes that the smallest asynchronous copy writes

  const MemoryRegion* find_global(const Access& access);
  void check_alignment(const Access& access);
  void touch_shared(const Access& access, std::size_t offset);
  void touch_global(const Access& access, const MemoryRegion& region);
  void record_range(const Access& access, std::uintptr_t first, bool shared);
  void check_flights(const Access& access, std::size_t offset);
  void check_readers(const Access& access, std::size_t offset, std::span<const Clock> known);
  std::string who(const ShadowSlot& slot) const;

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
  std::vector<std::string> unit_names_;
  AsyncReads reads_;
  std::deque<ReadingUnit> reading_units_;  ///< their addresses stay
};

}  // namespace heddle
