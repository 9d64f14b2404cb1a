#include "runtime/host/block_run.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace heddle {
namespace {

constexpr int kWarpSize = 32;
constexpr std::size_t kStackBytes = 128 * 1024;
constexpr std::size_t kSharedAlignment = 1024;

/// Every pattern that a kernel might take it for is a NaN: fp16, bf16, fp32, e4m3.
constexpr int kPoison = 0xff;

}  // namespace

/// The functions behind the table that kernels call; each finds its block behind `engine`.
struct BlockCalls {
  static BlockRun& block(void* engine) { return *static_cast<BlockRun*>(engine); }

  static void access(void* engine, const void* address, long long bytes, int flags,
                     const void* where) {
    BlockRun& self = block(engine);
    self.on_access({address, bytes, (flags & host::kWrite) != 0, (flags & host::kAligned) != 0,
                    self.running_, where});
  }
  static void warp(void* engine, host::WarpCall& call, const void* where) {
    block(engine).on_warp_call(call, where);
  }
  static void copy_async(void* engine, const host::CopyAsync& copy, const void* where) {
    block(engine).on_copy(copy, where);
  }
  static void copy_async_commit(void* engine) {
    BlockRun& self = block(engine);
    self.lanes_[static_cast<std::size_t>(self.running_)].copies.commit();
  }
  static void copy_async_wait(void* engine, int pending) {
    BlockRun& self = block(engine);
    self.lanes_[static_cast<std::size_t>(self.running_)].copies.wait(self.copy_context(), pending);
  }
};

const host::HostCalls& BlockRun::calls() {
  static constexpr host::HostCalls table{&BlockCalls::access, &BlockCalls::warp,
                                         &BlockCalls::copy_async, &BlockCalls::copy_async_commit,
                                         &BlockCalls::copy_async_wait};
  return table;
}

BlockRun::BlockRun(const BlockShape& shape, const Schedule& schedule, const MemoryMap& memory,
                   Program program)
    : shape_(shape),
      schedule_(schedule),
      program_(std::move(program)),
      check_(memory, log_),
      stacks_(shape.threads, kStackBytes),
      shared_storage_(static_cast<std::size_t>(shape.shared_bytes) + kSharedAlignment),
      lanes_(static_cast<std::size_t>(shape.threads)) {
  const auto address = reinterpret_cast<std::uintptr_t>(shared_storage_.data());
  shared_ = shared_storage_.data() + (kSharedAlignment - address % kSharedAlignment);
}

bool BlockRun::run(int block) {
  start_block(block);
  const int warps = shape_.threads / kWarpSize;
  std::vector<int> runnable;
  while (!lost_) {
    runnable.clear();
    bool all_done = true;
    for (int warp = 0; warp < warps; ++warp) {
      if (!lane_is(warp, LaneState::kDone)) all_done = false;
      for (int i = 0; i < kWarpSize; ++i) {
        if (lane(warp, i).state != LaneState::kReady) continue;
        runnable.push_back(warp);
        break;
      }
    }
    if (all_done) return true;
    if (runnable.empty()) {
      report_deadlock();
      return false;
    }
    step_warp(runnable[static_cast<std::size_t>(random_.below(static_cast<int>(runnable.size())))]);
  }
  return false;
}

void BlockRun::start_block(int block) {
  random_ = HostRandom(schedule_.seed * 0x100000001b3ull + static_cast<std::uint64_t>(block));
  log_.begin_block(block);
  std::memset(shared_, kPoison, static_cast<std::size_t>(shape_.shared_bytes));
  check_.begin_block(block, shared_, static_cast<std::size_t>(shape_.shared_bytes), shape_.threads);
  barriers_.clear();
  lost_ = false;
  state_ = {this, nullptr, nullptr, 0, block, shared_};
  program_.enter(&state_);
  for (int i = 0; i < shape_.threads; ++i) {
    Lane& entry = lanes_[static_cast<std::size_t>(i)];
    entry.state = LaneState::kReady;
    entry.copies.reset();
    entry.fiber.start(stacks_.low(i), stacks_.bytes(), program_.body);
  }
}

CopyContext BlockRun::copy_context() {
  return {check_, random_, schedule_.landing, running_};
}

WarpCalls BlockRun::calls_of(int warp) {
  WarpCalls calls{};
  for (int i = 0; i < kWarpSize; ++i) calls[static_cast<std::size_t>(i)] = lane(warp, i).call;
  return calls;
}

bool BlockRun::lane_is(int warp, LaneState state) const {
  const auto first = lanes_.begin() + kWarpSize * warp;
  return std::all_of(first, first + kWarpSize,
                     [&](const Lane& entry) { return entry.state == state; });
}

void BlockRun::on_access(const Access& access) {
  if (!check_.touch(access)) lose_lane();
}

void BlockRun::on_warp_call(host::WarpCall& call, const void* where) {
  Lane& self = lanes_[static_cast<std::size_t>(running_)];
  self.call = &call;
  self.where = where;
  self.state = LaneState::kMeeting;
  self.fiber.suspend();
}

void BlockRun::on_copy(const host::CopyAsync& copy, const void* where) {
  Lane& self = lanes_[static_cast<std::size_t>(running_)];
  if (!self.copies.start(copy_context(), copy, where)) lose_lane();
}

/// The lane has done what would bring a GPU down: it never goes on, and the block ends here.
void BlockRun::lose_lane() {
  Lane& self = lanes_[static_cast<std::size_t>(running_)];
  self.state = LaneState::kLost;
  lost_ = true;
  self.fiber.suspend();
}

void BlockRun::run_lane(int index) {
  Lane& entry = lanes_[static_cast<std::size_t>(index)];
  running_ = index;
  state_.thread = index;
  state_.stack_low = stacks_.low(index);
  state_.stack_high = state_.stack_low + stacks_.bytes();
  entry.fiber.resume();
  if (entry.fiber.done()) entry.state = LaneState::kDone;
}

/// Runs the warp's ready lanes, in a random order, up to where each must wait.
void BlockRun::step_warp(int warp) {
  const int first = random_.below(kWarpSize);
  const int direction = random_.coin() ? 1 : kWarpSize - 1;
  for (int i = 0; i < kWarpSize && !lost_; ++i) {
    const int index = (first + i * direction) % kWarpSize;
    if (lane(warp, index).state == LaneState::kReady) run_lane(kWarpSize * warp + index);
  }
  if (lost_) return;
  if (schedule_.landing == Landing::kRandom) {
    lane(warp, random_.below(kWarpSize)).copies.land_one(random_);
  }
  settle_warp(warp);
}

/// Lets the warp's lanes act together once all have met.
void BlockRun::settle_warp(int warp) {
  if (lane_is(warp, LaneState::kMeeting)) {
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
