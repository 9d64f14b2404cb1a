#pragma once
// How an fa3 block without a producer's warpgroup loads: three warps of its last team of consumers
// each look after one ring, between the steps of their own work.

#include "part/tma_producer.cuh"

namespace heddle::fa3 {

/// Warp 0 of the last team fills the ring of keys, warp 1 that of values, warp 2 the queue of query
/// tiles; each walks the tiles by itself, so that a ring runs ahead into the next tile.
///
/// The last team, since where teams take turns its products come after those of the others: once it
/// needs a slot no more, the others mostly do not either. And no wait for an empty slot is for
/// ever: this team has done with what the slot held, so the others can, whatever is loaded next.
template <class Config>
class TeamLoader : Producer<Config> {
  using Base = Producer<Config>;
  static constexpr bool kEnabled = !Config::kWarpSpecialized;
  /// Two slots are filled again as soon as they are empty. With more there is time until this
  /// team's next products are under way: then its warps would only wait for them, and the other
  /// teams have emptied the slot for certain.
  static constexpr bool kLater = Config::kStages > 2;
  static constexpr int kKeysAtFirst = kLater ? Config::kStages - 1 : Config::kStages;
  /// Values are multiplied a step after their keys.
  static constexpr int kValuesAtFirst = kLater ? Config::kStages - 2 : Config::kStages;
  enum Role { kKeys, kValues, kQueries, kNone };

 public:
  TeamLoader(const MappedParameters& maps, SharedStorage<Config>& shared, int team)
      : Base(maps, shared), walk_(maps.attention) {
    const int role = uniform(warp() % kWarpgroupWarps);
    if (kEnabled && team == Shape<Config>::kTeams - 1 && role < kNone) role_ = role;
  }

  /// Before the first tile.
  void begin() {
    if constexpr (!kEnabled) return;
    fill<kKeys>(kKeysAtFirst);
    fill<kValues>(kValuesAtFirst);
    fill<kQueries>(Config::kQueryStages);
  }

  /// Each is called once a step, by all of the team.
  void products_started() {
    if constexpr (kEnabled && kLater) load<kKeys>(), load<kValues>();
  }
  void keys_released() {
    if constexpr (kEnabled && !kLater) load<kKeys>();
  }
  void values_released() {
    if constexpr (kEnabled && !kLater) load<kValues>();
  }
  /// Once a tile.
  void queries_released() {
    if constexpr (kEnabled && Config::kPersistent) load<kQueries>();
  }

 private:
  template <int kRole>
  void fill(int count) {
    if (role_ != kRole || !elect_one()) return;
    find_tile<kRole>();
#pragma unroll 1
    for (int i = 0; i < count; ++i) load_next<kRole>();
  }

  template <int kRole>
  void load() {
    if (role_ == kRole && elect_one()) load_next<kRole>();
  }

  /// What the ring takes next, if there is more; the queue also takes the end.
  template <int kRole>
  void load_next() {
    if (!walk_.more()) return end<kRole>();
    const Work<Config> work(this->parameters_, item_);
    if constexpr (kRole == kQueries) {
      if (work.is_empty()) {
        this->announce_empty(item_);
      } else {
        this->load_queries(work);
      }
    } else {
      if constexpr (kRole == kKeys) this->load_keys(work, block_);
      if constexpr (kRole == kValues) this->load_values(work, block_);
      this->places_.next();
      if (--block_ >= work.range.begin) return;
    }
    walk_.move_to(walk_.draw());
    find_tile<kRole>();
  }

  /// From the walk's tile on the first that has something for this ring.
  template <int kRole>
  void find_tile() {
    const TileOrder<Config> order(this->parameters_);
#pragma unroll 1
    for (; walk_.more(); walk_.move_to(walk_.draw())) {
      item_ = order.item(walk_.index());
      const Work<Config> work(this->parameters_, item_);
      block_ = work.range.end - 1;
      if (kRole == kQueries || !work.is_empty()) return;
    }
  }

  template <int kRole>
  void end() {
    if (Config::kPersistent && kRole == kQueries && !ended_) this->announce_end();
    ended_ = true;
  }

  TileWalk<Config> walk_;
  WorkItem item_{};
  int block_ = 0;  ///< the next of the tile's keys or values
  int role_ = kNone;
  bool ended_ = false;  ///< the end of the queue is announced
};

}  // namespace heddle::fa3
