#pragma once
// In which order candidates are tried, and when to stop. Knows nothing of kernels: candidates are
// numbers, cheapest predicted first, and a cost is whatever is to be small.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "generator/field.hpp"

namespace heddle {

enum class Strategy { kExhaustive, kRanked, kLocal, kRandom };
template <>
struct EnumNames<Strategy> {
  static constexpr std::array names{
      std::pair{Strategy::kExhaustive, std::string_view("exhaustive")},
      std::pair{Strategy::kRanked, std::string_view("ranked")},
      std::pair{Strategy::kLocal, std::string_view("local")},
      std::pair{Strategy::kRandom, std::string_view("random")}};
};

struct SearchSpace {
  std::size_t size = 0;
  /// Tried before all others: the default, winners of near problems.
  std::vector<std::size_t> seeds;
  /// Those that differ from this one in a single choice.
  std::function<std::vector<std::size_t>(std::size_t)> neighbours;
  std::uint64_t seed = 0;  ///< of random choices
};

class SearchStrategy {
 public:
  virtual ~SearchStrategy() = default;
  /// The next to try, never the same twice. nullopt = nothing before another cost is known; for
  /// good where none is due.
  virtual std::optional<std::size_t> next() = 0;
  /// What trying it has shown; infinity where it failed.
  virtual void notify(std::size_t candidate, double cost) = 0;
};

/// - exhaustive: all of them.
/// - ranked: by prediction, until a stretch of them has brought nothing better.
/// - local: the best predicted, then the neighbours of the best known and of a few behind it; where
///   all of them are known, from the best predicted that is left, until several such starts have
///   brought nothing better.
/// - random: a tenth of them, at least kFewestRandom, drawn by the seed.
std::unique_ptr<SearchStrategy> make_strategy(Strategy strategy, SearchSpace space);

constexpr std::size_t kFewestRandom = 24;

}  // namespace heddle
