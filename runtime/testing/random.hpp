#pragma once

#include <cstdint>

namespace heddle {

/// Numbers in (0, 1) by splitmix64: a counter and a strong mix of it.
class UniformSource {
 public:
  explicit UniformSource(std::uint64_t seed) : state_(seed) {}
  double next();

 private:
  std::uint64_t state_;
};

/// N(0, 1) numbers by the Box-Muller transform.
class NormalSource {
 public:
  explicit NormalSource(std::uint64_t seed) : uniform_(seed) {}
  double next();

 private:
  UniformSource uniform_;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace heddle
