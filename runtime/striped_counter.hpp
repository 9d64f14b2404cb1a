#pragma once

#include <array>
#include <atomic>
#include <cstddef>

namespace heddle {

/// A count that many threads add to at once: each has a cache line of its own (more threads than
/// lines share), where one number for all would cost every call a line that another core holds.
class StripedCounter {
 public:
  void add_one() noexcept;
  long long sum() const noexcept;

 private:
  static constexpr std::size_t kStripes = 64;
  static constexpr std::size_t kLineBytes = 64;
  struct alignas(kLineBytes) Stripe {
    std::atomic<long long> count{0};
  };
  std::array<Stripe, kStripes> stripes_;
};

}  // namespace heddle
