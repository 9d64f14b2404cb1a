#pragma once
// A few rows of a large table such that any two columns still show every pair of values.

#include <cstdint>
#include <vector>

namespace heddle {

/// One value for each factor, as small numbers.
using FactorRow = std::vector<int>;

/// Rows picked from `pool` until no value that occurs in it is left out, nor any pair of values of
/// factors from `first_paired` on; greedily, so that the choice is small but not the smallest. The
/// same pool gives the same choice.
std::vector<std::size_t> cover_pairs(const std::vector<FactorRow>& pool, std::size_t first_paired);

}  // namespace heddle
