// What the lanes of a warp do together, and what warps do at a barrier.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/host/block_run.hpp"

namespace heddle {
namespace {

using host::WarpOperation;

constexpr int kWarpSize = 32;

std::string_view name(WarpOperation operation) {
  switch (operation) {
    case WarpOperation::kSyncWarp:
      return "__syncwarp";
    case WarpOperation::kSyncBarrier:
    case WarpOperation::kSyncBlockAny:
      return "bar.sync";
    case WarpOperation::kArriveBarrier:
      return "bar.arrive";
    case WarpOperation::kAny:
    case WarpOperation::kAll:
      return "vote";
    case WarpOperation::kShuffleXor:
    case WarpOperation::kShuffle:
      return "shfl";
    case WarpOperation::kLoadMatrix:
    case WarpOperation::kLoadMatrixTransposed:
      return "ldmatrix";
    case WarpOperation::kMultiplyHalf:
    case WarpOperation::kMultiplyBFloat16:
      return "mma";
  }
  return "?";
}

/// Arguments that all lanes of the warp must agree on. Shuffles may differ lane by lane.
bool uniform_argument(WarpOperation operation) {
  return operation == WarpOperation::kSyncBarrier || operation == WarpOperation::kArriveBarrier ||
         operation == WarpOperation::kLoadMatrix ||
         operation == WarpOperation::kLoadMatrixTransposed;
}

}  // namespace

void BlockRun::perform(int warp) {
  const host::WarpCall& first = *lane(warp, 0).call;
  for (int i = 1; i < kWarpSize; ++i) {
    const host::WarpCall& other = *lane(warp, i).call;
    const bool same_argument = !uniform_argument(first.operation) ||
                               (first.argument == other.argument &&
                                (first.operation == WarpOperation::kLoadMatrix ||
                                 first.operation == WarpOperation::kLoadMatrixTransposed ||
                                 first.threads == other.threads));
    if (first.operation != other.operation || !same_argument) return report_divergence(warp);
  }
  switch (first.operation) {
    case WarpOperation::kSyncWarp:
      sync_warp(warp);
      break;
    case WarpOperation::kSyncBarrier:
    case WarpOperation::kSyncBlockAny:
    case WarpOperation::kArriveBarrier:
      return arrive(warp);
    case WarpOperation::kAny:
    case WarpOperation::kAll:
      vote(warp);
      break;
    case WarpOperation::kShuffleXor:
    case WarpOperation::kShuffle:
      shuffle(warp);
      break;
    case WarpOperation::kLoadMatrix:
    case WarpOperation::kLoadMatrixTransposed:
      load(warp);
      break;
    case WarpOperation::kMultiplyHalf:
    case WarpOperation::kMultiplyBFloat16:
      multiply_matrices(calls_of(warp), first.operation);
      break;
  }
  if (!lost_) release(warp);
}

void BlockRun::release(int warp) {
  for (int i = 0; i < kWarpSize; ++i) lane(warp, i).state = LaneState::kReady;
}

void BlockRun::vote(int warp) {
  bool any = false;
  bool all = true;
  for (int i = 0; i < kWarpSize; ++i) {
    const bool predicate = lane(warp, i).call->value != 0;
    any = any || predicate;
    all = all && predicate;
  }
  for (int i = 0; i < kWarpSize; ++i) {
    host::WarpCall& call = *lane(warp, i).call;
    call.result = call.operation == WarpOperation::kAny ? any : all;
  }
}

void BlockRun::shuffle(int warp) {
  for (int i = 0; i < kWarpSize; ++i) {
    host::WarpCall& call = *lane(warp, i).call;
    const int source =
        call.operation == WarpOperation::kShuffleXor ? i ^ call.argument : call.argument;
    // Beyond the warp a lane gets its own value back.
    call.result = source >= 0 && source < kWarpSize ? lane(warp, source).call->value : call.value;
  }
}

void BlockRun::load(int warp) {
  const int rows = 8 * lane(warp, 0).call->argument;
  for (int i = 0; i < rows; ++i) {
    Access access;
    access.address = lane(warp, i).call->address;
    access.bytes = 16;
    access.aligned = true;
    access.actor = kWarpSize * warp + i;
    access.where = lane(warp, i).where;
    const bool shared = check_.is_shared(access.address, access.bytes);
    if (check_.touch(access) && shared) continue;
    if (!shared) report(FaultKind::kOutOfBounds, warp, i, "ldmatrix reads outside shared memory");
    lost_ = true;
    return;
  }
  load_matrices(calls_of(warp),
                lane(warp, 0).call->operation == WarpOperation::kLoadMatrixTransposed);
}

/// Orders the memory of the warp's threads: what each did before, all know after.
void BlockRun::sync_warp(int warp) {
  Clocks& clocks = check_.clocks();
  ClockVector all(static_cast<std::size_t>(clocks.actors()), 0);
  for (int i = 0; i < kWarpSize; ++i) join(all, clocks.row(kWarpSize * warp + i));
  for (int i = 0; i < kWarpSize; ++i) {
    join(clocks.row(kWarpSize * warp + i), all);
    clocks.tick(kWarpSize * warp + i);
  }
}

void BlockRun::arrive(int warp) {
  const host::WarpCall& call = *lane(warp, 0).call;
  const bool block_wide = call.operation == WarpOperation::kSyncBlockAny;
  const int id = block_wide ? 0 : call.argument;
  const int expected = block_wide || call.threads == 0 ? shape_.threads : call.threads;
  Clocks& clocks = check_.clocks();
  Barrier& barrier = barriers_[id];
  if (barrier.expected == 0) {
    barrier.expected = expected;
    barrier.clocks.assign(static_cast<std::size_t>(clocks.actors()), 0);
  }
  if (barrier.expected != expected || expected % kWarpSize != 0 || id < 0 || id > 15) {
    report(FaultKind::kBarrierMisuse, warp, 0,
           fmt::format("barrier {} with {} threads, where {} were named before", id, expected,
                       barrier.expected));
    lost_ = true;
    return;
  }
  barrier.where = lane(warp, 0).where;
  for (int i = 0; i < kWarpSize; ++i) {
    Lane& entry = lane(warp, i);
    join(barrier.clocks, clocks.row(kWarpSize * warp + i));
    barrier.any = barrier.any || (block_wide && entry.call->value != 0);
    entry.state = LaneState::kBarrier;
  }
  if (call.operation == WarpOperation::kArriveBarrier) {
    for (int i = 0; i < kWarpSize; ++i) clocks.tick(kWarpSize * warp + i);
    release(warp);
  } else {
    barrier.waiting.push_back(warp);
  }
  barrier.arrived += kWarpSize;
  if (barrier.arrived == barrier.expected) complete(barrier);
}

void BlockRun::complete(Barrier& barrier) {
  Clocks& clocks = check_.clocks();
  for (const int warp : barrier.waiting) {
    for (int i = 0; i < kWarpSize; ++i) {
      join(clocks.row(kWarpSize * warp + i), barrier.clocks);
      clocks.tick(kWarpSize * warp + i);
      lane(warp, i).call->result = barrier.any;
    }
    release(warp);
  }
  barrier = {};
}

void BlockRun::report(FaultKind kind, int warp, int lane_index, std::string text) {
  HostFault fault;
  fault.kind = kind;
  fault.warp = warp;
  fault.lane = lane_index;
  fault.text = std::move(text);
  if (warp >= 0 && lane_index >= 0) fault.where = lane(warp, lane_index).where;
  log_.report(std::move(fault));
}

void BlockRun::report_divergence(int warp) {
  std::string text = "the lanes of a warp are apart:";
  const void* other = nullptr;
  for (int i = 0; i < kWarpSize;) {
    const auto place = [&](int index) -> std::string {
      const Lane& entry = lane(warp, index);
      if (entry.state == LaneState::kDone) return "have ended";
      return fmt::format("are at {}", name(entry.call->operation));
    };
    int end = i + 1;
    while (end < kWarpSize && place(end) == place(i)) ++end;
    text += fmt::format("{} lanes {}-{} {}", i == 0 ? "" : ",", i, end - 1, place(i));
    if (lane(warp, i).state == LaneState::kMeeting) other = lane(warp, i).where;
    i = end;
  }
  HostFault fault;
  fault.kind = FaultKind::kDivergence;
  fault.warp = warp;
  for (int i = 0; i < kWarpSize && fault.where == nullptr; ++i) {
    if (lane(warp, i).state == LaneState::kMeeting) fault.where = lane(warp, i).where;
  }
  fault.other = other == fault.where ? nullptr : other;
  fault.text = std::move(text);
  log_.report(std::move(fault));
  lost_ = true;
}

std::string BlockRun::describe_wait(int warp) const {
  for (const auto& [id, barrier] : barriers_) {
    if (std::count(barrier.waiting.begin(), barrier.waiting.end(), warp) == 0) continue;
    return fmt::format("waits at barrier {}, where {} of {} threads have come", id, barrier.arrived,
                       barrier.expected);
  }
  const auto first = lanes_.begin() + kWarpSize * warp;
  const auto ended = std::count_if(
      first, first + kWarpSize, [](const Lane& entry) { return entry.state == LaneState::kDone; });
  return ended == kWarpSize ? "has ended" : "waits";
}

void BlockRun::report_deadlock() {
  std::string text = "nobody can go on:";
  const int warps = shape_.threads / kWarpSize;
  int first_waiting = -1;
  for (int warp = 0; warp < warps; ++warp) {
    const std::string state = describe_wait(warp);
    if (state != "has ended" && first_waiting < 0) first_waiting = warp;
    text += fmt::format("{} warp {} {}", warp == 0 ? "" : ";", warp, state);
  }
  report(FaultKind::kDeadlock, first_waiting, 0, std::move(text));
}

}  // namespace heddle
