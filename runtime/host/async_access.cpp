// Judges what units (TMA, wgmma) do to shared memory on behalf of threads.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/host/access_check.hpp"

namespace heddle {
namespace {

constexpr int kWarpSize = 32;

/// Calls `visit(granule, mask of its bytes)` for each granule of a range.
template <class Visit>
void for_each_granule(std::size_t offset, long long bytes, Visit visit) {
  const std::size_t end = offset + static_cast<std::size_t>(bytes);
  for (std::size_t at = offset; at < end;) {
    const std::size_t granule = at / kGranule;
    const std::size_t stop = std::min(end, (granule + 1) * kGranule);
    visit(granule, ((1u << (stop - at)) - 1u) << (at % kGranule));
    at = stop;
  }
}

Access as_access(const AsyncAccess& access, bool write) {
  Access plain;
  plain.bytes = access.bytes;
  plain.write = write;
  plain.actor = access.starter;
  plain.where = access.where;
  return plain;
}

}  // namespace

int AccessCheck::add_unit(std::string name) {
  const int actor = clocks_.add_unit();
  unit_names_.resize(static_cast<std::size_t>(actor - clocks_.threads()) + 1);
  unit_names_.back() = std::move(name);
  return actor;
}

AccessCheck::ReadingUnit& AccessCheck::add_reading_unit(std::string name, FaultKind kind) {
  ReadingUnit& unit = reading_units_.emplace_back();
  unit.actor = add_unit(std::move(name));
  unit.column = reads_.add_column(unit.actor);
  unit.kind = kind;
  return unit;
}

std::string AccessCheck::who(const ShadowSlot& slot) const {
  const int unit = slot.actor - clocks_.threads();
  if (unit >= 0) return unit_names_[static_cast<std::size_t>(unit)];
  return fmt::format("warp {}, lane {}", slot.actor / kWarpSize, slot.actor % kWarpSize);
}

void AccessCheck::check_readers(const Access& access, std::size_t offset,
                                std::span<const Clock> known) {
  const auto reader = reads_.unknown(offset, static_cast<std::size_t>(access.bytes), known);
  if (!reader) return;
  const auto unit = std::find_if(reading_units_.begin(), reading_units_.end(),
                                 [&](const auto& entry) { return entry.actor == reader->actor; });
  const std::string& name =
      unit_names_[static_cast<std::size_t>(reader->actor - clocks_.threads())];
  note(access, unit->kind,
       fmt::format("write of shared memory at offset {} that {} may still read: no wait orders it",
                   offset, name),
       reader->stamp < unit->places.size() ? unit->places[reader->stamp] : nullptr);
}

void AccessCheck::write_async(const AsyncAccess& access) {
  const Access plain = as_access(access, true);
  check_flights(plain, access.offset);
  if (reads_.any()) check_readers(plain, access.offset, access.known);
  const Clock stamp = clocks_.now(access.unit);
  for_each_granule(access.offset, access.bytes, [&](std::size_t granule, unsigned mask) {
    ShadowGranule& shadow = shared_shadow_.at(granule);
    if (const auto unfenced = unknown_write(shadow, mask, access.fenced, true)) {
      if (is_known(*unfenced, access.known)) {
        note(plain, FaultKind::kProxy,
             fmt::format("a copy overwrites what {} wrote: no fence_async_shared() before",
                         who(*unfenced)),
             unfenced->where);
      }
    }
    const ShadowSlot slot{stamp,
                          static_cast<std::uint16_t>(access.unit),
                          static_cast<std::uint8_t>(mask),
                          true,
                          true,
                          access.where};
    if (const auto earlier = record(shadow, slot, access.known)) {
      note(plain, earlier->async ? FaultKind::kCopyInFlight : FaultKind::kDataRace,
           fmt::format("a copy into shared memory collides with a {} by {}: nothing orders them",
                       earlier->write ? "write" : "read", who(*earlier)),
           earlier->where);
    }
  });
}

void AccessCheck::read_async(const AsyncAccess& access, const ReadingUnit& unit) {
  const Access plain = as_access(access, false);
  check_flights(plain, access.offset);
  for_each_granule(access.offset, access.bytes, [&](std::size_t granule, unsigned mask) {
    const ShadowGranule& shadow = shared_shadow_.at(granule);
    if (const auto earlier = unknown_write(shadow, mask, access.known, false)) {
      note(plain, earlier->async ? FaultKind::kCopyInFlight : FaultKind::kDataRace,
           fmt::format("read of shared memory collides with a write by {}: nothing orders them",
                       who(*earlier)),
           earlier->where);
    } else if (const auto unfenced = unknown_write(shadow, mask, access.fenced, true)) {
      note(plain, FaultKind::kProxy,
           fmt::format("read by the async proxy of what {} wrote: no fence_async_shared() by the "
                       "writer before the barrier",
                       who(*unfenced)),
           unfenced->where);
    }
  });
  const Clock stamp = clocks_.now(access.unit);
  const std::size_t end = access.offset + static_cast<std::size_t>(access.bytes);
  for (std::size_t at = access.offset; at < end; at += AsyncReads::kCell) {
    reads_.mark(at / AsyncReads::kCell, unit.column, stamp);
  }
}

}  // namespace heddle
