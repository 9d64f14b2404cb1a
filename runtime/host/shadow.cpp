#include "runtime/host/shadow.hpp"

namespace heddle {

std::optional<ShadowSlot> record(ShadowGranule& granule, const ShadowSlot& next,
                                 std::span<const Clock> known) {
  std::optional<ShadowSlot> collision;
  ShadowSlot* place = nullptr;
  for (ShadowSlot& slot : granule.slots) {
    if (slot.stamp == 0) {
      if (place == nullptr || place->stamp != 0) place = &slot;
      continue;
    }
    const bool ordered = is_known(slot, known);
    if (!ordered && (slot.bytes & next.bytes) != 0 && (slot.write || next.write)) collision = slot;
    // What is ordered before an access at least as strong to the same bytes needs no memory:
    // whoever collides with it and knows the new one would collide with the new one too.
    const bool covered = ordered && (slot.bytes & ~next.bytes) == 0 && (next.write || !slot.write);
    if (covered && (place == nullptr || place->stamp == 0)) place = &slot;
  }
  for (std::size_t i = 0; i < granule.slots.size() && place == nullptr; ++i) {
    ShadowSlot& slot = granule.slots[(next.stamp + i) % granule.slots.size()];
    if (!slot.write) place = &slot;  // rather forget a read
  }
  if (place == nullptr) place = &granule.slots[next.stamp % granule.slots.size()];
  *place = next;
  return collision;
}

std::optional<ShadowSlot> unknown_write(const ShadowGranule& granule, unsigned bytes,
                                        std::span<const Clock> known, bool ordinary_only) {
  for (const ShadowSlot& slot : granule.slots) {
    const bool concerns = slot.stamp != 0 && slot.write && (slot.bytes & bytes) != 0;
    if (concerns && !(ordinary_only && slot.async) && !is_known(slot, known)) return slot;
  }
  return std::nullopt;
}

ShadowGranule& GlobalShadow::at(std::uintptr_t granule) {
  const std::uintptr_t number = granule / kPageGranules;
  if (last_ == nullptr || number != last_number_) {
    auto& page = pages_[number];
    if (!page) page = std::make_unique<Page>();
    last_ = page.get();
    last_number_ = number;
  }
  return (*last_)[granule % kPageGranules];
}

}  // namespace heddle
