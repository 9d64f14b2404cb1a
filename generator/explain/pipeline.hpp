#pragma once
// What overlaps what in the main loop: a schedule of loads, products and softmax over the stages of
// the rings, worked out event by event from how long each takes.

#include <string_view>
#include <vector>

#include "generator/field.hpp"

namespace heddle {

enum class Activity {
  kLoadKey,
  kLoadValue,
  kHoldKey,  ///< in its stage, until everybody has read it
  kHoldValue,
  kQueryKey,
  kSoftmax,
  kExchange,
  kProbabilityValue,
  kStore,
  kWait,  ///< at a barrier, or for what has been started
};

template <>
struct EnumNames<Activity> {
  static constexpr std::array names{
      std::pair{Activity::kLoadKey, std::string_view("tile on its way")},
      std::pair{Activity::kLoadValue, std::string_view("tile on its way")},
      std::pair{Activity::kHoldKey, std::string_view("tile in its stage")},
      std::pair{Activity::kHoldValue, std::string_view("tile in its stage")},
      std::pair{Activity::kQueryKey, std::string_view("Q K^T")},
      std::pair{Activity::kSoftmax, std::string_view("softmax")},
      std::pair{Activity::kExchange, std::string_view("exchange between warps")},
      std::pair{Activity::kProbabilityValue, std::string_view("P V")},
      std::pair{Activity::kStore, std::string_view("S on its way to HBM")},
      std::pair{Activity::kWait, std::string_view("waiting")}};
};

/// In which order a team does its work.
enum class LoopOrder {
  kSequential,  ///< Q K^T, softmax, P V of a key tile, then the next
  kInTurn,      ///< the same with P V put off until the next tile's Q K^T is about to start
  kOverlapped,  ///< P V of the tile before, issued behind a tile's Q K^T, runs beside its softmax
};

/// A team is what walks the key tiles together: a warpgroup of fa3, else a block.
struct PipelinePlan {
  int teams = 1;
  bool shared_rings = false;  ///< all teams read the same tiles; else each has rings of its own
  int stages = 1;
  int steps = 1;     ///< key tiles
  int substeps = 1;  ///< a tile's work is done in so many rounds (fa1's rows)
  LoopOrder order = LoopOrder::kSequential;
  bool turns = false;                ///< ping-pong
  bool keys_go_with_values = false;  ///< a stage of K is free only once V's is
  // Cycles of one team and key tile, as if the team had the SM for itself.
  double query_key = 0, softmax = 0, exchange = 0, probability_value = 0, store = 0;
  double wait = 0;      ///< barriers and latencies, and what else keeps a team from its work
  double load_key = 0;  ///< cycles of the loader's bandwidth; 0: no such tile
  double load_value = 0;
  double load_latency = 0;  ///< from the request to the first byte
};

/// One activity. Products and softmax belong to a team, loads and what they leave to a stage.
struct Span {
  Activity activity{};
  int owner = 0;  ///< team, or the team whose ring it is (0 where all share one)
  int stage = 0;  ///< of the ring; 0 for what is not in one
  int step = 0;   ///< the key tile
  double begin = 0;
  double end = 0;
};

struct PipelineSchedule {
  std::vector<Span> spans;  ///< in order of their ends
  double step_cycles = 0;   ///< from one key tile to the next, once the pipeline is full
  double end = 0;
};

/// Throws kInternal where the plan cannot go on (a ring without stages).
PipelineSchedule schedule(const PipelinePlan& plan);

}  // namespace heddle
