#pragma once

#include <cstdint>

namespace heddle {

/// SplitMix64: small, quick, the same everywhere.
class HostRandom {
 public:
  explicit HostRandom(std::uint64_t seed = 0) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t value = state_ += 0x9e3779b97f4a7c15ull;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
    return value ^ (value >> 31);
  }
  int below(int bound) { return static_cast<int>(next() % static_cast<std::uint64_t>(bound)); }
  bool coin() { return (next() & 1u) != 0; }

 private:
  std::uint64_t state_;
};

}  // namespace heddle
