// The tensor cores serve products in the order in which they were started, one at a time; softmax
// of several teams shares the arithmetic units evenly; loads come in order through one channel.

#include "generator/explain/pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "generator/explain/pipeline_program.hpp"

namespace heddle {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = 1e-6;

/// A ring of K and one of V, and the loads that fill them in the order K0, V0, K1, V1 …
struct Rings {
  struct Tile {
    double landed = kNever;
    int readers_left = 0;
    double free = kNever;
  };
  std::vector<Tile> keys, values;
  std::size_t next_load = 0;

  std::vector<Tile>& of(Tensor tensor) { return tensor == Tensor::kKey ? keys : values; }
};

struct Team {
  std::vector<Op> program;
  std::size_t at = 0;
  double ready = 0;         ///< no sooner does the next operation begin
  double softmax_left = 0;  ///< cycles, alone on the SM
  double softmax_begin = 0;
  int credits = 0;  ///< turns it may take
  double product_end[2] = {0, 0};

  bool done() const { return at == program.size(); }
  bool in_softmax() const { return softmax_left > 0; }
};

class Simulator {
 public:
  explicit Simulator(const PipelinePlan& plan) : plan_(plan) {
    teams_.resize(static_cast<std::size_t>(plan.teams));
    rings_.resize(plan.shared_rings ? 1 : teams_.size());
    for (Team& team : teams_) team.program = program_of(plan);
    teams_.front().credits = 1;
    for (Rings& rings : rings_) {
      rings.keys.resize(static_cast<std::size_t>(plan.steps));
      rings.values.resize(static_cast<std::size_t>(plan.steps));
      for (auto* tiles : {&rings.keys, &rings.values}) {
        for (Rings::Tile& tile : *tiles) tile.readers_left = plan.shared_rings ? plan.teams : 1;
      }
    }
  }

  PipelineSchedule run() {
    while (!all_done()) {
      while (progress()) {
      }
      if (all_done()) break;
      advance(next_event());
    }
    return finish();
  }

 private:
  bool all_done() const {
    return std::all_of(teams_.begin(), teams_.end(), [](const Team& t) { return t.done(); });
  }

  Rings& rings_of(std::size_t team) { return rings_[plan_.shared_rings ? 0 : team]; }

  void note(Activity activity, std::size_t owner, int stage, int step, double begin, double end) {
    if (end - begin <= kEpsilon) return;
    schedule_.spans.push_back({activity, static_cast<int>(owner), stage, step, begin, end});
  }

  bool progress() {
    bool moved = false;
    for (std::size_t r = 0; r < rings_.size(); ++r) moved |= load(r);
    for (std::size_t t = 0; t < teams_.size(); ++t) {
      while (!teams_[t].done() && perform(t)) moved = true;
    }
    return moved;
  }

  /// Requests what comes next in a ring, if its stage is free.
  bool load(std::size_t ring) {
    Rings& rings = rings_[ring];
    const auto step = static_cast<int>(rings.next_load / 2);
    if (step >= plan_.steps) return false;
    const Tensor tensor = rings.next_load % 2 == 0 ? Tensor::kKey : Tensor::kValue;
    const double cycles = tensor == Tensor::kKey ? plan_.load_key : plan_.load_value;
    auto& tiles = rings.of(tensor);
    if (cycles > 0 && step >= plan_.stages &&
        tiles[static_cast<std::size_t>(step - plan_.stages)].free > now_ + kEpsilon) {
      return false;
    }
    ++rings.next_load;
    Rings::Tile& tile = tiles[static_cast<std::size_t>(step)];
    if (cycles == 0) {
      tile.landed = now_;
      return true;
    }
    const double begin = std::max(now_, channel_free_);
    channel_free_ = begin + cycles;
    tile.landed = channel_free_ + plan_.load_latency;
    note(tensor == Tensor::kKey ? Activity::kLoadKey : Activity::kLoadValue, ring,
         step % plan_.stages, step, now_, tile.landed);
    return true;
  }

  /// The team's next operation, if it can be begun now.
  bool perform(std::size_t index) {
    Team& team = teams_[index];
    if (team.ready > now_ + kEpsilon || team.in_softmax()) return false;
    const Op& op = team.program[team.at];
    switch (op.kind) {
      case Op::Kind::kAwaitTile:
        if (tile(index, op).landed > now_ + kEpsilon) return false;
        break;
      case Op::Kind::kRelease:
        release(index, op);
        break;
      case Op::Kind::kTakeTurn:
        if (team.credits == 0) return false;
        --team.credits;
        break;
      case Op::Kind::kGiveTurn:
        ++teams_[(index + 1) % teams_.size()].credits;
        break;
      case Op::Kind::kStart: {
        const double begin = std::max(now_, tensor_free_);
        tensor_free_ = begin + op.cycles;
        team.product_end[product_of(op.activity)] = tensor_free_;
        note(op.activity, index, 0, op.step, begin, tensor_free_);
        break;
      }
      case Op::Kind::kAwaitProduct:
        team.ready = team.product_end[product_of(op.activity)];
        break;
      case Op::Kind::kAlone:
        note(op.activity, index, 0, op.step, now_, now_ + op.cycles);
        team.ready = now_ + op.cycles;
        break;
      case Op::Kind::kSoftmax:
        team.softmax_left = op.cycles;
        team.softmax_begin = now_;
        if (op.cycles > 0) return true;  // `at` moves on once it is over
        break;
    }
    ++team.at;
    return true;
  }

  static std::size_t product_of(Activity activity) {
    return activity == Activity::kQueryKey ? 0 : 1;
  }

  Rings::Tile& tile(std::size_t team, const Op& op) {
    return rings_of(team).of(op.tensor)[static_cast<std::size_t>(op.step)];
  }

  void release(std::size_t team, const Op& op) {
    Rings::Tile& left = tile(team, op);
    if (--left.readers_left > 0) return;
    left.free = now_;
    const bool key = op.tensor == Tensor::kKey;
    if ((key ? plan_.load_key : plan_.load_value) == 0) return;
    note(key ? Activity::kHoldKey : Activity::kHoldValue, plan_.shared_rings ? 0 : team,
         op.step % plan_.stages, op.step, left.landed, now_);
  }

  int softmaxes() const {
    return static_cast<int>(
        std::count_if(teams_.begin(), teams_.end(), [](const Team& t) { return t.in_softmax(); }));
  }

  double next_event() {
    double next = kNever;
    for (const Team& team : teams_) {
      if (team.in_softmax()) next = std::min(next, now_ + team.softmax_left * softmaxes());
      if (team.ready > now_ + kEpsilon) next = std::min(next, team.ready);
    }
    for (Rings& rings : rings_) {
      for (auto* tiles : {&rings.keys, &rings.values}) {
        for (const Rings::Tile& each : *tiles) {
          if (each.landed > now_ + kEpsilon) next = std::min(next, each.landed);
        }
      }
    }
    if (next < kNever) return next;
    throw Error(ErrorCode::kInternal, "stages", "the pipeline of this config cannot go on");
  }

  void advance(double to) {
    const double each = (to - now_) / std::max(softmaxes(), 1);
    now_ = to;
    for (std::size_t t = 0; t < teams_.size(); ++t) {
      Team& team = teams_[t];
      if (!team.in_softmax()) continue;
      team.softmax_left -= each;
      if (team.softmax_left > kEpsilon) continue;
      team.softmax_left = 0;
      note(Activity::kSoftmax, t, 0, team.program[team.at].step, team.softmax_begin, now_);
      ++team.at;
    }
  }

  PipelineSchedule finish() {
    for (const Span& span : schedule_.spans) schedule_.end = std::max(schedule_.end, span.end);
    schedule_.step_cycles = steady_step();
    return std::move(schedule_);
  }

  /// From one key tile to the next: the later half of the walk, in which the rings are full. The
  /// last P V of an overlapped walk has nothing beside it, so Q K^T tells, where there is one.
  double steady_step() const {
    const Activity told = plan_.query_key > 0 ? Activity::kQueryKey : Activity::kProbabilityValue;
    std::vector<double> ends(static_cast<std::size_t>(plan_.steps), 0);
    for (const Span& span : schedule_.spans) {
      double& end = ends[static_cast<std::size_t>(span.step)];
      if (span.activity == told) end = std::max(end, span.end);
    }
    const std::size_t last = ends.size() - 1;
    const std::size_t from = last / 2;
    if (from == last) return schedule_.end;
    return (ends[last] - ends[from]) / static_cast<double>(last - from);
  }

  const PipelinePlan& plan_;
  std::vector<Team> teams_;
  std::vector<Rings> rings_;
  PipelineSchedule schedule_;
  double now_ = 0;
  double tensor_free_ = 0;
  double channel_free_ = 0;
};

}  // namespace

PipelineSchedule schedule(const PipelinePlan& plan) {
  return Simulator(plan).run();
}

}  // namespace heddle
