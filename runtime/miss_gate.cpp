#include "runtime/miss_gate.hpp"

#include <algorithm>

namespace heddle {

bool MissGate::is_busy(const KernelKey& key) const {
  return std::any_of(work_.begin(), work_.end(), [&](const Work& work) { return work.key == key; });
}

bool MissGate::is_working(std::thread::id thread) const {
  return std::any_of(work_.begin(), work_.end(),
                     [&](const Work& work) { return work.thread == thread; });
}

MissGate::Turn::Turn(MissGate& gate, const KernelKey& key) : gate_(gate) {
  std::unique_lock lock(gate_.mutex_);
  const auto self = std::this_thread::get_id();
  is_nested_ = gate_.is_working(self);
  if (!is_nested_) gate_.finished_.wait(lock, [&] { return !gate_.is_busy(key); });
  gate_.work_.push_back({key, self});
}

/// Turns of a thread nest, so the newest of its entries is the one that ends.
MissGate::Turn::~Turn() {
  {
    const std::lock_guard lock(gate_.mutex_);
    const auto self = std::this_thread::get_id();
    const auto newest = std::find_if(gate_.work_.rbegin(), gate_.work_.rend(),
                                     [&](const Work& work) { return work.thread == self; });
    gate_.work_.erase(std::next(newest).base());
  }
  gate_.finished_.notify_all();
}

}  // namespace heddle
