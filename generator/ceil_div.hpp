#pragma once

namespace heddle {

/// How many pieces of `divisor` it takes to cover `value`, which is not negative.
constexpr long long ceil_div(long long value, long long divisor) {
  return (value + divisor - 1) / divisor;
}

}  // namespace heddle
