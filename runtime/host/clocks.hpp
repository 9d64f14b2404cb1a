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
  void reset(int threads) {
    threads_ = actors_ = threads;
    capacity_ = threads + kUnits;
    seen_.assign(static_cast<std::size_t>(threads) * static_cast<std::size_t>(capacity_), 0);
    fenced_.clear();
    units_.clear();
    any_fence_ = false;
    for (int actor = 0; actor < actors_; ++actor) tick(actor);
  }
  /// One more actor, who does things but learns nothing.
  int add_unit() {
    if (actors_ == capacity_) widen();
    units_.push_back(1);
    return actors_++;
  }

  int threads() const { return threads_; }
  int actors() const { return actors_; }
  /// The actor's own time: what it does now carries this stamp.
  Clock now(int actor) const {
    return actor < threads_ ? row(actor)[static_cast<std::size_t>(actor)]
                            : units_[static_cast<std::size_t>(actor - threads_)];
  }
  void tick(int actor) {
    ++(actor < threads_ ? seen_[start(actor) + static_cast<std::size_t>(actor)]
                        : units_[static_cast<std::size_t>(actor - threads_)]);
  }
  /// `actor`, a thread, learns what `unit` did up to `stamp`.
  void learn(int actor, int unit, Clock stamp) {
    Clock& known = row(actor)[static_cast<std::size_t>(unit)];
    known = std::max(known, stamp);
  }

  /// What a thread knows.
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

  /// Twice the room for units.
  void widen() {
    const int wider = threads_ + 2 * (capacity_ - threads_);
    const auto move = [&](ClockVector& table) {
      if (table.empty()) return;
      ClockVector moved(static_cast<std::size_t>(threads_) * static_cast<std::size_t>(wider));
      for (std::size_t thread = 0; thread < static_cast<std::size_t>(threads_); ++thread) {
        std::copy_n(
            table.begin() + static_cast<std::ptrdiff_t>(start(static_cast<int>(thread))), size(),
            moved.begin() + static_cast<std::ptrdiff_t>(thread * static_cast<std::size_t>(wider)));
      }
      table = std::move(moved);
    };
    move(seen_);
    move(fenced_);
    capacity_ = wider;
  }

  static constexpr int kUnits = 128;  ///< for which there is room at first

  int threads_ = 0;
  int actors_ = 0;
  int capacity_ = 0;
  bool any_fence_ = false;
  ClockVector seen_;    ///< [thread][actor]
  ClockVector fenced_;  ///< the same, once anybody has fenced
  ClockVector units_;   ///< the units' own times
};

}  // namespace heddle
