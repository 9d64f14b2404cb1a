#include "runtime/host/bulk_copies.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include <fmt/format.h>

namespace heddle {
namespace {

constexpr int kWarpSize = 32;
constexpr int kRunAlignment = 16;
constexpr unsigned kTileAlignment = 128;

}  // namespace

void BulkCopies::begin_block() {
  loads_.clear();
  stores_.clear();
}

bool BulkCopies::at_once() {
  return landing_ == Landing::kEarliest || (landing_ == Landing::kRandom && random_.coin());
}

AsyncAccess BulkCopies::async(const Access& access, int unit) const {
  AsyncAccess result;
  result.known = check_.clocks().row(access.actor);
  result.fenced = check_.clocks().fenced(access.actor);
  result.unit = unit;
  result.starter = access.actor;
  result.where = access.where;
  return result;
}

/// What the hardware asks of the addresses and sizes.
bool BulkCopies::valid(const host::BulkCopy& copy, const Access& access) {
  if (!check_.is_shared(copy.shared, 1)) {
    check_.note(access, FaultKind::kOutOfBounds, "the tile of a copy is not in shared memory");
    return false;
  }
  const std::size_t offset = check_.shared_offset(copy.shared);
  const bool tile = copy.map != nullptr;
  if (tile ? offset % kTileAlignment != 0 : offset % kRunAlignment != 0) {
    check_.note(access, FaultKind::kMisaligned,
                fmt::format("a copy at offset {} of shared memory: it has to be a multiple of {}",
                            offset, tile ? static_cast<int>(kTileAlignment) : kRunAlignment));
    return false;
  }
  const bool run_fits =
      tile || (copy.bytes > 0 && copy.bytes % kRunAlignment == 0 &&
               reinterpret_cast<std::uintptr_t>(copy.global) % kRunAlignment == 0);
  if (!run_fits) {
    check_.note(access, FaultKind::kMisaligned,
                fmt::format("a copy of {} bytes at {}: both have to be multiples of {}", copy.bytes,
                            copy.global, kRunAlignment));
  }
  return run_fits;
}

bool BulkCopies::pieces_of(const host::BulkCopy& copy, const Access& access,
                           std::vector<CopyPiece>& pieces) {
  const auto shared = static_cast<unsigned>(check_.shared_offset(copy.shared)) + kSharedBase;
  if (copy.map == nullptr) {
    pieces = run_pieces(copy.global, shared, copy.bytes);
  } else {
    TensorMapRequest map;
    if (!host::decode_tensor_map(*static_cast<const TensorMap*>(copy.map), map) ||
        map.rank != copy.rank) {
      check_.note(access, FaultKind::kOutOfBounds,
                  fmt::format("a copy of a box of rank {}: its tensor map is none of that rank",
                              copy.rank));
      return false;
    }
    const std::string refusal = box_refusal(map, copy.at, copy.store);
    if (!refusal.empty()) {
      check_.note(access, FaultKind::kMisaligned, refusal);
      return false;
    }
    pieces = box_pieces(map, copy.at, shared);
  }
  const auto end = kSharedBase + check_.shared_bytes();
  const bool fits = std::all_of(pieces.begin(), pieces.end(), [&](const CopyPiece& piece) {
    return piece.shared + static_cast<unsigned>(piece.bytes) <= end;
  });
  if (!fits) {
    check_.note(access, FaultKind::kOutOfBounds,
                fmt::format("a copy at offset {} reaches past the {} bytes of shared memory",
                            shared - kSharedBase, check_.shared_bytes()));
  }
  return fits;
}

bool BulkCopies::check_global(const std::vector<CopyPiece>& pieces, Access access) {
  return std::all_of(pieces.begin(), pieces.end(), [&](const CopyPiece& piece) {
    if (piece.global == nullptr) return true;
    access.address = piece.global;
    access.bytes = piece.bytes;
    return check_.touch(access);
  });
}

bool BulkCopies::start(const host::BulkCopy& copy, int lane, const void* where) {
  Access access;
  access.write = copy.store;
  access.actor = lane;
  access.where = where;
  std::vector<CopyPiece> pieces;
  if (!valid(copy, access) || !pieces_of(copy, access, pieces) || !check_global(pieces, access)) {
    return false;
  }
  if (!copy.store) return start_load(copy, std::move(pieces), access);
  start_store(std::move(pieces), access);
  return true;
}

bool BulkCopies::start_load(const host::BulkCopy& copy, std::vector<CopyPiece> pieces,
                            const Access& access) {
  Mbarrier* barrier = barriers_.for_copy(copy.barrier, access.actor, access.where);
  if (barrier == nullptr) return false;
  AsyncAccess write = async(access, barrier->unit);
  int bytes = 0;
  for (const CopyPiece& piece : pieces) {
    write.offset = piece.shared - kSharedBase;
    write.bytes = piece.bytes;
    check_.write_async(write);
    bytes += piece.bytes;
  }
  barriers_.copy_started(*barrier, bytes, access.where);
  Load load{std::move(pieces), barrier, barrier->phase, bytes};
  if (at_once()) {
    land(load);
  } else {
    loads_.push_back(std::move(load));
  }
  return true;
}

void BulkCopies::start_store(std::vector<CopyPiece> pieces, const Access& access) {
  Stores& stores = stores_[access.actor];
  if (stores.unit == nullptr) {
    stores.unit =
        &check_.add_reading_unit(fmt::format("a store by warp {}, lane {}",
                                             access.actor / kWarpSize, access.actor % kWarpSize),
                                 FaultKind::kCopyInFlight);
  }
  const Clock stamp = check_.clocks().now(stores.unit->actor);
  stores.unit->places.resize(stamp + 1, access.where);
  AsyncAccess read = async(access, stores.unit->actor);
  for (const CopyPiece& piece : pieces) {
    if (piece.global == nullptr) continue;
    read.offset = piece.shared - kSharedBase;
    read.bytes = piece.bytes;
    check_.read_async(read, *stores.unit);
  }
  Store& store = stores.open.emplace_back(Store{std::move(pieces), access.where, false});
  if (at_once()) land(store);
}

void BulkCopies::commit(int lane) {
  const auto found = stores_.find(lane);
  if (found == stores_.end()) return;
  Stores& stores = found->second;
  Clocks& clocks = check_.clocks();
  stores.groups.push_back({std::move(stores.open), clocks.now(stores.unit->actor)});
  stores.open.clear();
  clocks.tick(stores.unit->actor);
}

void BulkCopies::wait(int lane, int pending) {
  const auto found = stores_.find(lane);
  if (found == stores_.end()) return;
  Stores& stores = found->second;
  while (static_cast<int>(stores.groups.size()) > pending) {
    Group& group = stores.groups.front();
    for (Store& store : group.stores) land(store);
    check_.clocks().learn(lane, stores.unit->actor, group.stamp);
    stores.groups.pop_front();
  }
}

bool BulkCopies::land_one() {
  if (loads_.empty()) return false;
  const int chosen =
      landing_ == Landing::kRandom ? random_.below(static_cast<int>(loads_.size())) : 0;
  const Load load = std::move(loads_[static_cast<std::size_t>(chosen)]);
  loads_.erase(loads_.begin() + chosen);
  land(load);
  return true;
}

void BulkCopies::land(const Load& load) {
  for (const CopyPiece& piece : load.pieces) {
    const auto bytes = static_cast<std::size_t>(piece.bytes);
    if (piece.global != nullptr) {
      std::memcpy(shared(piece), piece.global, bytes);
    } else {
      std::memset(shared(piece), 0, bytes);
    }
  }
  barriers_.copy_landed(*load.barrier, load.phase, load.bytes);
}

void BulkCopies::land(Store& store) {
  if (store.done) return;
  store.done = true;
  for (const CopyPiece& piece : store.pieces) {
    if (piece.global == nullptr) continue;
    std::memcpy(piece.global, shared(piece), static_cast<std::size_t>(piece.bytes));
  }
}

void BulkCopies::report_leftovers() {
  for (auto& [lane, stores] : stores_) {
    for (Group& group : stores.groups) {
      std::move(group.stores.begin(), group.stores.end(), std::back_inserter(stores.open));
    }
    const Store* left = stores.open.empty() ? nullptr : &stores.open.front();
    if (left == nullptr) continue;
    Access access;
    access.actor = lane;
    access.where = left->where;
    check_.note(access, FaultKind::kCopyInFlight,
                "the block ends before this store was waited for");
  }
}

}  // namespace heddle
