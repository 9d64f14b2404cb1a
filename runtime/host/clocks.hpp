#pragma once
// Vector clocks: what each actor of a block knows of the others. Actors are the block's threads,
// its transaction barriers and its warpgroups' matrix units.

#include <cstdint>
#include <span>
#include <vector>

namespace heddle {

using Clock = std::uint32_t;
using ClockVector = std::vector<Clock>;

/// into = the later of both, actor by actor.
inline void join(std::span<Clock> into, std::span<const Clock> from) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = into[i] < from[i] ? from[i] : into[i];
}

class Clocks {
 public:
  void reset(int actors) {
    actors_ = actors;
    table_.assign(static_cast<std::size_t>(actors) * actors, 0);
    for (int actor = 0; actor < actors; ++actor) tick(actor);
  }

  int actors() const { return actors_; }
  /// The actor's own time: what it does now carries this stamp.
  Clock now(int actor) const { return row(actor)[static_cast<std::size_t>(actor)]; }
  /// Whether `actor` is ordered after what `other` did at `stamp`.
  bool knows(int actor, int other, Clock stamp) const {
    return row(actor)[static_cast<std::size_t>(other)] >= stamp;
  }
  void tick(int actor) { ++row(actor)[static_cast<std::size_t>(actor)]; }

  std::span<Clock> row(int actor) {
    return {table_.data() + static_cast<std::size_t>(actor) * actors_,
            static_cast<std::size_t>(actors_)};
  }
  std::span<const Clock> row(int actor) const {
    return {table_.data() + static_cast<std::size_t>(actor) * actors_,
            static_cast<std::size_t>(actors_)};
  }

 private:
  int actors_ = 0;
  std::vector<Clock> table_;
};

}  // namespace heddle
