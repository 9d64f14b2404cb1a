#include "runtime/host/copy_queue.hpp"

#include <cstring>

namespace heddle {

bool CopyQueue::start(const CopyContext& context, const host::CopyAsync& copy, const void* where) {
  Access read{copy.source, copy.source_bytes, false, false, context.actor, where};
  Access write{copy.destination, copy.bytes, true, true, context.actor, where};
  if (copy.source_bytes > 0 && !context.check.touch(read)) return false;
  if (!context.check.touch(write)) return false;
  context.check.begin_flight(copy.destination, copy.bytes, {true, FaultKind::kCopyInFlight, where});
  Copy& entry = open_.emplace_back(Copy{copy, where, false});
  const bool now = context.landing == Landing::kEarliest ||
                   (context.landing == Landing::kRandom && context.random.coin());
  if (now) land(entry);
  return true;
}

void CopyQueue::commit() {
  groups_.push_back(std::move(open_));
  open_.clear();
}

void CopyQueue::wait(const CopyContext& context, int pending) {
  while (static_cast<int>(groups_.size()) > pending) {
    for (Copy& copy : groups_.front()) {
      land(copy);
      context.check.end_flight(copy.what.destination, copy.what.bytes);
      // From here on it is as if this thread had written the bytes just now.
      context.check.touch(
          {copy.what.destination, copy.what.bytes, true, false, context.actor, copy.where});
    }
    groups_.pop_front();
  }
}

void CopyQueue::land_one(HostRandom& random) {
  if (groups_.empty()) return;
  Group& group = groups_[static_cast<std::size_t>(random.below(static_cast<int>(groups_.size())))];
  if (!group.empty())
    land(group[static_cast<std::size_t>(random.below(static_cast<int>(group.size())))]);
}

void CopyQueue::reset() {
  open_.clear();
  groups_.clear();
}

void CopyQueue::land(Copy& copy) {
  if (copy.landed) return;
  copy.landed = true;
  auto* to = static_cast<char*>(copy.what.destination);
  std::memcpy(to, copy.what.source, static_cast<std::size_t>(copy.what.source_bytes));
  std::memset(to + copy.what.source_bytes, 0,
              static_cast<std::size_t>(copy.what.bytes - copy.what.source_bytes));
}

}  // namespace heddle
