// What the host works out for the quantiser's kernels by itself: signs and divisors.
#include <vector>

#include <catch2/catch.hpp>

#include "templates/quantiser_layout.cuh"

namespace heddle {
namespace {

TEST_CASE("each column's sign is where a lane shifts it to") {
  for (const unsigned seed : {1u, 7u, 0xffffffffu}) {
    for (int column = 0; column < 256; ++column) {
      const unsigned signs = rotation_signs(seed, column / kQuantiserChunk);
      const int pair = column % kQuantiserChunk / 2;
      const unsigned packed = signs << pair;  // two neighbours' sign bits
      INFO("seed " << seed << ", column " << column);
      CHECK((packed >> (column % 2 == 0 ? 15 : 31) & 1) ==
            (rotation_negates(seed, column) ? 1 : 0));
    }
  }
}

TEST_CASE("a known divisor divides as `/` does") {
  constexpr int kLargest = 0x7fffffff;
  std::vector<int> divisors{kLargest, kLargest - 1, 1 << 30, (1 << 30) + 1, 65535, 65537, 1000003};
  for (int divisor = 1; divisor <= 300; ++divisor) divisors.push_back(divisor);
  for (const int divisor : divisors) {
    const KnownDivisor known = known_divisor(divisor);
    const int last = kLargest / divisor * divisor;  // the largest multiple
    for (const int number : {0, 1, divisor - 1, divisor, last - 1, last, kLargest - 1, kLargest}) {
      INFO(number << " / " << divisor);
      CHECK(known.divide(number) == number / divisor);
    }
  }
}

}  // namespace
}  // namespace heddle
