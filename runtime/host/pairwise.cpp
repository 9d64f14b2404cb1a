#include "runtime/host/pairwise.hpp"

#include <set>

namespace heddle {
namespace {

/// A pair of factors with their values, as one number.
std::uint64_t pair_key(std::size_t first, int value, std::size_t second, int other) {
  return (static_cast<std::uint64_t>(first) << 48) | (static_cast<std::uint64_t>(second) << 32) |
         (static_cast<std::uint64_t>(value) << 16) | static_cast<std::uint64_t>(other);
}

/// A single value is its factor paired with itself.
std::vector<std::uint64_t> pairs_of(const FactorRow& row, std::size_t first_paired) {
  std::vector<std::uint64_t> pairs;
  for (std::size_t i = 0; i < row.size(); ++i) {
    pairs.push_back(pair_key(i, row[i], i, row[i]));
    for (std::size_t j = i + 1; i >= first_paired && j < row.size(); ++j) {
      pairs.push_back(pair_key(i, row[i], j, row[j]));
    }
  }
  return pairs;
}

}  // namespace

std::vector<std::size_t> cover_pairs(const std::vector<FactorRow>& pool, std::size_t first_paired) {
  std::vector<std::vector<std::uint64_t>> pairs;
  std::set<std::uint64_t> missing;
  for (const FactorRow& row : pool) {
    pairs.push_back(pairs_of(row, first_paired));
    missing.insert(pairs.back().begin(), pairs.back().end());
  }
  std::vector<std::size_t> chosen;
  while (!missing.empty()) {
    std::size_t best = 0;
    std::size_t best_gain = 0;
    for (std::size_t i = 0; i < pool.size(); ++i) {
      std::size_t gain = 0;
      for (const std::uint64_t pair : pairs[i]) gain += missing.count(pair);
      if (gain > best_gain) best = i, best_gain = gain;
    }
    for (const std::uint64_t pair : pairs[best]) missing.erase(pair);
    chosen.push_back(best);
  }
  return chosen;
}

}  // namespace heddle
