#include "tuning_db/cubin_memory.hpp"

#include <algorithm>

namespace heddle {
namespace {

/// A process without a file should not hold half a gigabyte of kernels it has already loaded.
constexpr long long kLargest = 64LL << 20;

long long size_of(const StoredCubin& cubin) {
  return static_cast<long long>(cubin.bytes.size());
}

}  // namespace

CubinMemory::CubinMemory(long long capacity_bytes)
    : capacity_bytes_(std::min(capacity_bytes, kLargest)) {}

std::optional<StoredCubin> CubinMemory::get(const Hash128& key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  return found->second.cubin;
}

void CubinMemory::put(const Hash128& key, const StoredCubin& cubin) {
  erase(key);
  if (size_of(cubin) > capacity_bytes_) return;
  while (size_bytes_ + size_of(cubin) > capacity_bytes_) erase_oldest();
  size_bytes_ += size_of(cubin);
  entries_[key] = {cubin, next_order_++};
}

void CubinMemory::erase(const Hash128& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  size_bytes_ -= size_of(found->second.cubin);
  entries_.erase(found);
}

void CubinMemory::erase_oldest() {
  const auto oldest = std::min_element(
      entries_.begin(), entries_.end(),
      [](const auto& a, const auto& b) { return a.second.order < b.second.order; });
  erase(Hash128(oldest->first));
}

void CubinMemory::clear() {
  entries_.clear();
  size_bytes_ = 0;
}

}  // namespace heddle
