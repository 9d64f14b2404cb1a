#pragma once
// A few rows of a large table such that any two columns still show every pair of values.

#include <cstdint>
#include <vector>

namespace heddle {

/// One value for each factor, as small numbers.
using FactorRow = std::vector<int>;

/// Rows picked from `pool` until no pair of values that occurs in the pool is left out; greedily,
/// so that the choice is small but not the smallest. The same pool gives the same choice.
std::vector<std::size_t> cover_pairs(const std::vector<FactorRow>& pool);

}  // namespace heddle
