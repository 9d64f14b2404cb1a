#pragma once
// Vector clocks: what each actor of a block knows of the others. Actors are the block's threads and
// the units that work for them: a barrier's copies, a warp's matrix products, a thread's stores.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle {

using Clock = std::uint32_t;
using ClockVector = std::vector<Clock>;

/// into = the later of both, actor by actor. Actors that `from` has never heard of stay as they
/// are.
inline void join(std::span<Clock> into, std::span<const Clock> from) {
  const std::size_t count = std::min(into.size(), from.size());
  for (std::size_t i = 0; i < count; ++i) into[i] = into[i] < from[i] ? from[i] : into[i];
}

/// What travels from those who release to those who acquire.
struct Knowledge {
  ClockVector seen;    ///< what happened before
  ClockVector fenced;  ///< of that, which ordinary writes the async proxy sees
};

class Clocks {
 public:
  /// Units beyond the threads, at most.
  static constexpr int kMostUnits = 128;

  void reset(int threads) {
    threads_ = actors_ = threads;
    capacity_ = threads + kMostUnits;
    const auto cells = static_cast<std::size_t>(capacity_) * static_cast<std::size_t>(capacity_);
    seen_.assign(cells, 0);
    any_fence_ = false;
    for (int actor = 0; actor < actors_; ++actor) tick(actor);
  }
  /// One more actor; the last one again when there is no room.
  int add_unit() {
    if (actors_ == capacity_) return actors_ - 1;
    tick(actors_);
    return actors_++;
  }

  int threads() const { return threads_; }
  int actors() const { return actors_; }
  /// The actor's own time: what it does now carries this stamp.
  Clock now(int actor) const { return row(actor)[static_cast<std::size_t>(actor)]; }
  void tick(int actor) { ++seen_[start(actor) + static_cast<std::size_t>(actor)]; }
  /// `actor` learns what `unit` did up to `stamp`.
  void learn(int actor, int unit, Clock stamp) {
    Clock& known = row(actor)[static_cast<std::size_t>(unit)];
    known = std::max(known, stamp);
  }

  std::span<Clock> row(int actor) { return {seen_.data() + start(actor), size()}; }
  std::span<const Clock> row(int actor) const { return {seen_.data() + start(actor), size()}; }
  /// Empty as long as nobody has fenced.
  std::span<const Clock> fenced(int actor) const {
    return any_fence_ ? std::span<const Clock>(fenced_.data() + start(actor), size())
                      : std::span<const Clock>();
  }

  void release(int actor, Knowledge& into) {
    into.seen.resize(static_cast<std::size_t>(capacity_));
    join(into.seen, row(actor));
    if (!any_fence_) return;
    into.fenced.resize(static_cast<std::size_t>(capacity_));
    join(into.fenced, fenced(actor));
  }
  void acquire(int actor, const Knowledge& from) {
    join(row(actor), from.seen);
    if (any_fence_) join({fenced_.data() + start(actor), size()}, from.fenced);
  }

  /// The async proxy will see what `actor` has written so far. Only its own writes: others fence
  /// for themselves.
  void fence(int actor) {
    if (!any_fence_) fenced_.assign(seen_.size(), 0);
    any_fence_ = true;
    fenced_[start(actor) + static_cast<std::size_t>(actor)] = now(actor);
    tick(actor);
  }

 private:
  std::size_t start(int actor) const {
    return static_cast<std::size_t>(actor) * static_cast<std::size_t>(capacity_);
  }
  std::size_t size() const { return static_cast<std::size_t>(actors_); }

  int threads_ = 0;
  int actors_ = 0;
  int capacity_ = 0;
  bool any_fence_ = false;
  ClockVector seen_;
  ClockVector fenced_;
};

}  // namespace heddle
