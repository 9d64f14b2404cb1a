#include "runtime/striped_counter.hpp"

namespace heddle {
namespace {

/// Threads take numbers as they come, so that the first 64 never share a stripe.
std::size_t thread_number() noexcept {
  static std::atomic<std::size_t> next{0};
  thread_local const std::size_t mine = next.fetch_add(1, std::memory_order_relaxed);
  return mine;
}

}  // namespace

void StripedCounter::add_one() noexcept {
  stripes_[thread_number() % kStripes].count.fetch_add(1, std::memory_order_relaxed);
}

long long StripedCounter::sum() const noexcept {
  long long total = 0;
  for (const Stripe& stripe : stripes_) total += stripe.count.load(std::memory_order_relaxed);
  return total;
}

}  // namespace heddle
