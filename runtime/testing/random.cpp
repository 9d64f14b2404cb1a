#include "runtime/testing/random.hpp"

#include <cmath>
#include <numbers>

namespace heddle {

double UniformSource::next() {
  state_ += 0x9e3779b97f4a7c15u;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  mixed ^= mixed >> 31;
  return (static_cast<double>(mixed >> 11) + 0.5) * 0x1p-53;  // never 0, never 1
}

double NormalSource::next() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const double radius = std::sqrt(-2.0 * std::log(uniform_.next()));
  const double angle = 2.0 * std::numbers::pi * uniform_.next();
  spare_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

}  // namespace heddle
