#include "runtime/host/block_run.hpp"

#include <algorithm>
#include <cstring>

namespace heddle {
namespace {

constexpr int kWarpSize = 32;
constexpr int kGroupThreads = 128;
constexpr std::size_t kStackBytes = 128 * 1024;
constexpr std::size_t kSharedAlignment = 1024;

/// Every pattern that a kernel might take it for is a NaN: fp16, bf16, fp32, e4m3.
constexpr int kPoison = 0xff;

/// Rounds of nothing but polling after which the block counts as stuck.
constexpr int kMostIdleRounds = 1000;

}  // namespace

BlockRun::BlockRun(const BlockShape& shape, const Schedule& schedule, const MemoryMap& memory,
                   Program program)
    : shape_(shape),
      schedule_(schedule),
      program_(std::move(program)),
      check_(memory, log_),
      mbarriers_(check_,
                 [this](int index) {
                   lanes_[static_cast<std::size_t>(index)].state = LaneState::kReady;
                   moved_ = true;
                 }),
      bulk_copies_(check_, mbarriers_, random_, schedule.landing),
      matrix_units_(check_, random_, schedule.landing),
      stacks_(shape.threads, kStackBytes),
      shared_storage_(static_cast<std::size_t>(shape.shared_bytes) + kSharedAlignment),
      lanes_(static_cast<std::size_t>(shape.threads)) {
  const auto address = reinterpret_cast<std::uintptr_t>(shared_storage_.data());
  shared_ = shared_storage_.data() + (kSharedAlignment - address % kSharedAlignment);
}

bool BlockRun::run(int block) {
  start_block(block);
  std::vector<int> runnable;
  while (!lost_) {
    if (find_runnable(runnable)) {
      end_block();
      return true;
    }
    if (runnable.empty() || stalled()) {
      // Nothing but an unfinished copy can bring anybody further.
      if (bulk_copies_.land_one()) {
        idle_steps_ = 0;
      } else if (runnable.empty() || idle_steps_ > kMostIdleRounds * (shape_.threads / kWarpSize)) {
        report_deadlock();
        return false;
      }
      if (runnable.empty()) continue;
    }
    step_warp(runnable[static_cast<std::size_t>(random_.below(static_cast<int>(runnable.size())))]);
  }
  return false;
}

/// Collects the warps that can go on; true when all threads have ended.
bool BlockRun::find_runnable(std::vector<int>& warps) {
  warps.clear();
  bool all_done = true;
  for (int warp = 0; warp < shape_.threads / kWarpSize; ++warp) {
    if (!lane_is(warp, LaneState::kDone)) all_done = false;
    for (int i = 0; i < kWarpSize; ++i) {
      if (lane(warp, i).state != LaneState::kReady) continue;
      warps.push_back(warp);
      break;
    }
  }
  return all_done;
}

bool BlockRun::stalled() const {
  return idle_steps_ > 2 * shape_.threads / kWarpSize;
}

void BlockRun::start_block(int block) {
  random_ = HostRandom(schedule_.seed * 0x100000001b3ull + static_cast<std::uint64_t>(block));
  log_.begin_block(block);
  std::memset(shared_, kPoison, static_cast<std::size_t>(shape_.shared_bytes));
  check_.begin_block(block, shared_, static_cast<std::size_t>(shape_.shared_bytes), shape_.threads);
  mbarriers_.begin_block(shape_.threads);
  bulk_copies_.begin_block();
  matrix_units_.begin_block(shape_.threads / kWarpSize);
  registers_.begin_block(shape_.threads / kGroupThreads, shape_.registers_per_thread);
  barriers_.clear();
  atomics_.clear();
  register_waits_.clear();
  // elect.sync may pick any lane, but picks the same one each time.
  elected_ = schedule_.landing == Landing::kRandom ? random_.below(kWarpSize) : 0;
  idle_steps_ = 0;
  lost_ = false;
  state_ = {this, nullptr, nullptr, 0, block, shape_.grid_blocks, shared_};
  program_.enter(&state_);
  for (int i = 0; i < shape_.threads; ++i) {
    Lane& entry = lanes_[static_cast<std::size_t>(i)];
    entry.state = LaneState::kReady;
    entry.copies.reset();
    entry.fiber.start(stacks_.low(i), stacks_.bytes(), program_.body);
  }
}

void BlockRun::end_block() {
  while (bulk_copies_.land_one()) continue;
  mbarriers_.report_leftovers();
  bulk_copies_.report_leftovers();
  matrix_units_.report_leftovers();
}

CopyContext BlockRun::copy_context() {
  return {check_, random_, schedule_.landing, running_};
}

WarpCalls BlockRun::calls_of(int warp) const {
  WarpCalls calls{};
  for (int i = 0; i < kWarpSize; ++i) calls[static_cast<std::size_t>(i)] = lane(warp, i).call;
  return calls;
}

bool BlockRun::lane_is(int warp, LaneState state) const {
  const auto first = lanes_.begin() + kWarpSize * warp;
  return std::all_of(first, first + kWarpSize,
                     [&](const Lane& entry) { return entry.state == state; });
}

void BlockRun::run_lane(int index) {
  Lane& entry = lanes_[static_cast<std::size_t>(index)];
  running_ = index;
  state_.thread = index;
  state_.stack_low = stacks_.low(index);
  state_.stack_high = state_.stack_low + stacks_.bytes();
  mbarriers_.resumed(index);
  entry.fiber.resume();
  if (entry.fiber.done()) {
    entry.state = LaneState::kDone;
    moved_ = true;
  }
}

/// Runs the warp's ready lanes, in a random order, up to where each must wait.
void BlockRun::step_warp(int warp) {
  moved_ = false;
  const int first = random_.below(kWarpSize);
  const int direction = random_.coin() ? 1 : kWarpSize - 1;
  for (int i = 0; i < kWarpSize && !lost_; ++i) {
    const int index = (first + i * direction) % kWarpSize;
    if (lane(warp, index).state == LaneState::kReady) run_lane(kWarpSize * warp + index);
  }
  if (lost_) return;
  if (schedule_.landing == Landing::kRandom) {
    lane(warp, random_.below(kWarpSize)).copies.land_one(random_);
    if (random_.coin()) bulk_copies_.land_one();
  }
  settle_warp(warp);
  idle_steps_ = moved_ ? 0 : idle_steps_ + 1;
}

/// Lets the warp's lanes act together once all have met.
void BlockRun::settle_warp(int warp) {
  if (lane_is(warp, LaneState::kMeeting)) {
    moved_ = true;
    perform(warp);
    return;
  }
  bool meeting = false;
  bool ended = false;
  for (int i = 0; i < kWarpSize; ++i) {
    meeting = meeting || lane(warp, i).state == LaneState::kMeeting;
    ended = ended || lane(warp, i).state == LaneState::kDone;
  }
  if (meeting && ended) report_divergence(warp);
}

}  // namespace heddle
