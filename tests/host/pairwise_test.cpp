#include "runtime/host/pairwise.hpp"

#include <catch2/catch.hpp>
#include <set>

namespace heddle {
namespace {

using Pair = std::tuple<std::size_t, int, std::size_t, int>;

std::set<Pair> pairs_in(const std::vector<FactorRow>& rows) {
  std::set<Pair> pairs;
  for (const FactorRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      for (std::size_t j = i + 1; j < row.size(); ++j) pairs.insert({i, row[i], j, row[j]});
    }
  }
  return pairs;
}

/// Every row of a table with these many values for each factor, but those that `illegal` names.
std::vector<FactorRow> table(const std::vector<int>& values, bool (*illegal)(const FactorRow&)) {
  std::vector<FactorRow> rows{{}};
  for (const int count : values) {
    std::vector<FactorRow> longer;
    for (const FactorRow& row : rows) {
      for (int value = 0; value < count; ++value) {
        longer.push_back(row);
        longer.back().push_back(value);
      }
    }
    rows = std::move(longer);
  }
  std::erase_if(rows, illegal);
  return rows;
}

TEST_CASE("every pair of values that the pool holds is in the rows picked, and few are picked") {
  const auto pool = table({5, 4, 3, 2, 2, 3}, [](const FactorRow& row) {
    return row[0] == 4 && row[1] == 3;  // never together: no row can show this pair
  });
  std::vector<FactorRow> picked;
  for (const std::size_t index : cover_pairs(pool, 0)) picked.push_back(pool[index]);
  CHECK(pairs_in(picked) == pairs_in(pool));
  CHECK(picked.size() >= 19);  // the 5 x 4 - 1 pairs of the two largest factors
  CHECK(picked.size() <= 30);
}

TEST_CASE("factors before the first paired one show each value, and cost fewer rows") {
  const auto pool = table({5, 4, 3, 2, 2, 3}, [](const FactorRow&) { return false; });
  std::vector<FactorRow> picked;
  for (const std::size_t index : cover_pairs(pool, 3)) picked.push_back(pool[index]);
  std::set<std::pair<std::size_t, int>> values;
  for (const FactorRow& row : picked) {
    for (std::size_t i = 0; i < row.size(); ++i) values.insert({i, row[i]});
  }
  CHECK(values.size() == 5 + 4 + 3 + 2 + 2 + 3);
  CHECK(picked.size() >= 6);  // the 2 x 3 pairs of the last two
  CHECK(picked.size() <= 10);
}

TEST_CASE("nothing to pick from gives nothing") {
  CHECK(cover_pairs({}, 0).empty());
}

}  // namespace
}  // namespace heddle
