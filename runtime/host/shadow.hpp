#pragma once
// Who touched a piece of memory last, and whether that was ordered.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/host/clocks.hpp"

namespace heddle {

/// One access to some of the eight bytes of a granule.
struct ShadowSlot {
  Clock stamp = 0;  ///< 0 = empty
  std::uint16_t actor = 0;
  std::uint8_t bytes = 0;  ///< one bit for each byte of the granule
  bool write : 1 = false;
  bool async : 1 = false;  ///< by a unit, not by the thread itself
  const void* where = nullptr;
};

constexpr int kGranule = 8;

/// The last few accesses. Where they do not suffice, one is forgotten: a race may then be missed,
/// none is invented.
struct ShadowGranule {
  std::array<ShadowSlot, 4> slots;
};

/// Whether an access happened before what `known` tells of its actor.
inline bool is_known(const ShadowSlot& slot, std::span<const Clock> known) {
  return slot.actor < known.size() && known[slot.actor] >= slot.stamp;
}

/// Records `next`; returns an earlier access that it collides with: the bytes overlap, one of the
/// two writes, and the earlier one is not among what is `known` to whoever causes the next.
std::optional<ShadowSlot> record(ShadowGranule& granule, const ShadowSlot& next,
                                 std::span<const Clock> known);

/// A write to any of `bytes` that is not among what is `known`. `ordinary_only`: not that of a
/// unit.
std::optional<ShadowSlot> unknown_write(const ShadowGranule& granule, unsigned bytes,
                                        std::span<const Clock> known, bool ordinary_only);

/// The shadow of the block's shared memory.
class SharedShadow {
 public:
  void reset(std::size_t bytes) { granules_.assign((bytes + kGranule - 1) / kGranule, {}); }
  ShadowGranule& at(std::size_t granule) { return granules_[granule]; }

 private:
  std::vector<ShadowGranule> granules_;
};

/// The shadow of what the block touched of writable global memory.
class GlobalShadow {
 public:
  void reset() { pages_.clear(), last_ = nullptr; }
  ShadowGranule& at(std::uintptr_t granule);

 private:
  static constexpr std::uintptr_t kPageGranules = 256;
  using Page = std::array<ShadowGranule, kPageGranules>;
  std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages_;
  std::uintptr_t last_number_ = 0;
  Page* last_ = nullptr;
};

}  // namespace heddle
