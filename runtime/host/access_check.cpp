#include "runtime/host/access_check.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace heddle {
namespace {

constexpr int kWarpSize = 32;
constexpr std::size_t kMostFaults = 32;

std::string_view verb(bool write) {
  return write ? "write" : "read";
}

}  // namespace

void FaultLog::report(HostFault fault) {
  const bool known = std::any_of(faults_.begin(), faults_.end(), [&](const HostFault& entry) {
    return entry.kind == fault.kind && entry.where == fault.where && entry.other == fault.other;
  });
  if (known || faults_.size() >= kMostFaults) return;
  fault.block = block_;
  faults_.push_back(std::move(fault));
}

void AccessCheck::begin_block(int block, unsigned char* shared, std::size_t shared_bytes,
                              int actors) {
  block_ = block;
  shared_ = shared;
  shared_bytes_ = shared_bytes;
  clocks_.reset(actors);
  shared_shadow_.reset(shared_bytes);
  global_shadow_.reset();
  cells_.assign((shared_bytes + kCell - 1) / kCell, 0);
  flights_.clear();
  unit_names_.clear();
  reads_.reset(shared_bytes);
  reading_units_.clear();
}

bool AccessCheck::is_shared(const void* address, long long bytes) const {
  const auto* at = static_cast<const unsigned char*>(address);
  return at >= shared_ && at < shared_ + shared_bytes_ && bytes <= shared_ + shared_bytes_ - at;
}

bool AccessCheck::touch(const Access& access) {
  check_alignment(access);
  if (is_shared(access.address, access.bytes)) {
    touch_shared(access, shared_offset(access.address));
    return true;
  }
  const MemoryRegion* region = find_global(access);
  if (region != nullptr && region->writable) touch_global(access, *region);
  return region != nullptr;
}

bool AccessCheck::may_touch(const Access& access) {
  check_alignment(access);
  return is_shared(access.address, access.bytes) || find_global(access) != nullptr;
}

void AccessCheck::check_alignment(const Access& access) {
  const auto at = reinterpret_cast<std::uintptr_t>(access.address);
  if (!access.aligned || at % static_cast<std::uintptr_t>(access.bytes) == 0) return;
  note(access, FaultKind::kMisaligned,
       fmt::format("{} of {} bytes at an address that is no multiple of {}", verb(access.write),
                   access.bytes, access.bytes));
}

/// Null, after a report, where the access must not happen.
const MemoryRegion* AccessCheck::find_global(const Access& access) {
  if (access.address == nullptr && access.bytes == 0) {
    note(access, FaultKind::kOutOfBounds, "an index beyond its array, or a division by 0");
    return nullptr;
  }
  const MemoryRegion* region = memory_.find(access.address, access.bytes);
  if (region == nullptr) {
    const bool begins_shared = is_shared(access.address, 1);
    note(access, FaultKind::kOutOfBounds,
         fmt::format(
             "{} of {} bytes, {}", verb(access.write), access.bytes,
             begins_shared ? "past the end of shared memory" : memory_.describe(access.address)));
    return nullptr;
  }
  if (!access.write || region->writable) {
    region->count(access.bytes, access.write);
    return region;
  }
  note(access, FaultKind::kReadOnly,
       fmt::format("write of {} bytes to {}", access.bytes, region->name));
  return nullptr;
}

void AccessCheck::note(const Access& access, FaultKind kind, std::string text, const void* other) {
  HostFault fault;
  fault.kind = kind;
  fault.warp = access.actor / kWarpSize;
  fault.lane = access.actor % kWarpSize;
  fault.where = access.where;
  fault.other = other;
  fault.text = std::move(text);
  log_.report(std::move(fault));
}

void AccessCheck::check_flights(const Access& access, std::size_t offset) {
  const std::size_t last = (offset + static_cast<std::size_t>(access.bytes) - 1) / kCell;
  for (std::size_t cell = offset / kCell; cell <= last; ++cell) {
    if (cells_[cell] == 0) continue;
    const Flight& flight = flights_[cells_[cell] - 1u];
    if (!access.write && !flight.writes) continue;
    note(access, flight.kind,
         flight.kind == FaultKind::kBarrierMisuse
             ? fmt::format("{} of a barrier's own bytes, at offset {}", verb(access.write), offset)
             : fmt::format("{} of shared memory at offset {} before its copy was waited for",
                           verb(access.write), offset),
         flight.where);
    break;
  }
}

void AccessCheck::touch_shared(const Access& access, std::size_t offset) {
  check_flights(access, offset);
  if (access.write && reads_.any()) {
    check_readers(access, offset, clocks_.row(access.actor));
  }
  record_range(access, offset, true);
}

void AccessCheck::touch_global(const Access& access, const MemoryRegion& region) {
  const auto offset =
      static_cast<std::size_t>(static_cast<const char*>(access.address) - region.begin);
  const int other =
      region.owners->touch(offset, static_cast<std::size_t>(access.bytes), block_, access.write);
  if (other != -1) {
    note(access, FaultKind::kBlockRace,
         fmt::format("{} of {} at byte {}, which {} touches too", verb(access.write), region.name,
                     offset, other < 0 ? "other blocks" : fmt::format("block {}", other)));
  }
  record_range(access, reinterpret_cast<std::uintptr_t>(access.address), false);
}

void AccessCheck::record_range(const Access& access, std::uintptr_t first, bool shared) {
  const std::uintptr_t end = first + static_cast<std::uintptr_t>(access.bytes);
  for (std::uintptr_t at = first; at < end;) {
    const std::uintptr_t granule = at / kGranule;
    const std::uintptr_t stop = std::min(end, (granule + 1) * kGranule);
    const unsigned mask = ((1u << (stop - at)) - 1u) << (at % kGranule);
    ShadowSlot slot{clocks_.now(access.actor),
                    static_cast<std::uint16_t>(access.actor),
                    static_cast<std::uint8_t>(mask),
                    access.write,
                    false,
                    access.where};
    ShadowGranule& shadow = shared ? shared_shadow_.at(granule) : global_shadow_.at(granule);
    if (const auto earlier = record(shadow, slot, clocks_.row(access.actor))) {
      note(access, earlier->async ? FaultKind::kCopyInFlight : FaultKind::kDataRace,
           fmt::format("{} of {} memory collides with a {} by {}: nothing orders them",
                       verb(access.write), shared ? "shared" : "global", verb(earlier->write),
                       who(*earlier)),
           earlier->where);
    }
    at = stop;
  }
}

void AccessCheck::begin_flight(const void* address, long long bytes, const Flight& flight) {
  // Flights from one place are alike, so a handful describes them all.
  const auto known = std::find(flights_.begin(), flights_.end(), flight);
  const auto id = static_cast<std::uint16_t>(known - flights_.begin() + 1);
  if (known == flights_.end()) flights_.push_back(flight);
  const std::size_t offset = shared_offset(address);
  const std::size_t last = (offset + static_cast<std::size_t>(bytes) - 1) / kCell;
  for (std::size_t cell = offset / kCell; cell <= last; ++cell) {
    cells_[cell] = id;
  }
}

void AccessCheck::end_flight(const void* address, long long bytes) {
  const std::size_t offset = shared_offset(address);
  const std::size_t last = (offset + static_cast<std::size_t>(bytes) - 1) / kCell;
  std::fill(cells_.begin() + static_cast<std::ptrdiff_t>(offset / kCell),
            cells_.begin() + static_cast<std::ptrdiff_t>(last) + 1, std::uint16_t{0});
}

}  // namespace heddle
