#include "tuner/search.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>
#include <random>

namespace heddle {
namespace {

/// Less is noise, and no reason to go on.
constexpr double kWorthwhile = 0.995;

/// Hands out a list, each candidate once.
class Listed : public SearchStrategy {
 public:
  explicit Listed(std::size_t size) : tried_(size, false) {}

  std::optional<std::size_t> next() override {
    while (!queue_.empty()) {
      const std::size_t candidate = queue_.front();
      queue_.pop_front();
      if (tried_[candidate]) continue;
      tried_[candidate] = true;
      return candidate;
    }
    return std::nullopt;
  }
  void notify(std::size_t, double) override {}

 protected:
  void append(const std::vector<std::size_t>& candidates) {
    queue_.insert(queue_.end(), candidates.begin(), candidates.end());
  }
  void clear() { queue_.clear(); }
  bool tried(std::size_t candidate) const { return tried_[candidate]; }

 private:
  std::deque<std::size_t> queue_;
  std::vector<bool> tried_;
};

std::vector<std::size_t> all_of(std::size_t size) {
  std::vector<std::size_t> list(size);
  std::iota(list.begin(), list.end(), std::size_t{0});
  return list;
}

class Exhaustive final : public Listed {
 public:
  explicit Exhaustive(const SearchSpace& space) : Listed(space.size) {
    append(space.seeds);
    append(all_of(space.size));
  }
};

class Random final : public Listed {
 public:
  explicit Random(const SearchSpace& space) : Listed(space.size) {
    append(space.seeds);
    auto list = all_of(space.size);
    std::mt19937_64 engine(space.seed);
    // Not std::shuffle, which may differ from library to library.
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[engine() % i]);
    list.resize(std::min(list.size(), std::max(kFewestRandom, list.size() / 10)));
    append(list);
  }
};

/// How long ago something better was found.
class BestSoFar {
 public:
  /// True where it is better by more than noise.
  bool update(double cost) {
    ++since_;
    const bool better = cost < best_cost_ * kWorthwhile;
    best_cost_ = std::min(best_cost_, cost);
    if (better) since_ = 0;
    return better;
  }
  std::size_t since() const { return since_; }

 private:
  double best_cost_ = std::numeric_limits<double>::infinity();
  std::size_t since_ = 0;
};

class Ranked final : public Listed {
 public:
  explicit Ranked(const SearchSpace& space)
      : Listed(space.size), patience_(std::max(kLeastPatience, space.size / 8)) {
    append(space.seeds);
    append(all_of(space.size));
  }
  void notify(std::size_t, double cost) override {
    best_.update(cost);
    if (best_.since() >= patience_) clear();
  }

 private:
  static constexpr std::size_t kLeastPatience = 16;
  std::size_t patience_;
  BestSoFar best_;
};

class Local final : public Listed {
 public:
  explicit Local(SearchSpace space) : Listed(space.size), space_(std::move(space)) {
    // A few of the best predicted beside the seeds, so that there is somewhere to start from.
    append(space_.seeds);
    for (std::size_t i = 0; i < std::min(kStarts, space_.size); ++i) append({i});
  }

  std::optional<std::size_t> next() override {
    while (true) {
      const auto candidate = Listed::next();
      if (candidate) ++due_;
      if (candidate || due_ > 0 || fruitless_ >= kFruitless) return candidate;
      if (!move_on()) return std::nullopt;
    }
  }
  void notify(std::size_t candidate, double cost) override {
    --due_;
    if (best_.update(cost)) fruitless_ = 0;
    if (cost == std::numeric_limits<double>::infinity()) return;
    const auto place =
        std::upper_bound(leaders_.begin(), leaders_.end(), std::pair(cost, candidate));
    leaders_.insert(place, {cost, candidate});
    if (leaders_.size() > kLeaders) leaders_.pop_back();
  }

 private:
  static constexpr std::size_t kStarts = 16;
  static constexpr std::size_t kLeaders = 8;
  static constexpr int kFruitless = 16;

  std::vector<std::size_t> untried_neighbours(std::size_t candidate) const {
    auto list = space_.neighbours(candidate);
    std::erase_if(list, [&](std::size_t other) { return tried(other); });
    return list;
  }

  /// To the neighbours of the best, then of those behind it; where all are known, to the best
  /// predicted that is left and its neighbours.
  bool move_on() {
    for (const auto& [cost, leader] : leaders_) {
      const auto list = untried_neighbours(leader);
      if (!list.empty()) return append(list), true;
    }
    ++fruitless_;
    std::size_t start = 0;
    while (start < space_.size && tried(start)) ++start;
    if (start == space_.size) return false;
    append({start});
    append(untried_neighbours(start));
    return true;
  }

  std::vector<std::pair<double, std::size_t>> leaders_;  ///< the best known, best first
  SearchSpace space_;
  BestSoFar best_;
  int due_ = 0;
  int fruitless_ = 0;
};

}  // namespace

std::unique_ptr<SearchStrategy> make_strategy(Strategy strategy, SearchSpace space) {
  switch (strategy) {
    case Strategy::kExhaustive:
      return std::make_unique<Exhaustive>(space);
    case Strategy::kRanked:
      return std::make_unique<Ranked>(space);
    case Strategy::kLocal:
      return std::make_unique<Local>(std::move(space));
    case Strategy::kRandom:
      return std::make_unique<Random>(space);
  }
  return nullptr;
}

}  // namespace heddle
