// What went wrong, in words.
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
    case WarpOperation::kStoreMatrix:
    case WarpOperation::kStoreMatrixTransposed:
      return "stmatrix";
    case WarpOperation::kMultiplyHalf:
    case WarpOperation::kMultiplyBFloat16:
    case WarpOperation::kMultiplyE4m3:
      return "mma";
    case WarpOperation::kElect:
      return "elect";
    case WarpOperation::kProductFence:
      return "wgmma.fence";
    case WarpOperation::kProductCommit:
      return "wgmma.commit_group";
    case WarpOperation::kProductWait:
      return "wgmma.wait_group";
    case WarpOperation::kProduct:
      return "wgmma.mma_async";
    case WarpOperation::kIncreaseRegisters:
      return "setmaxnreg.inc";
    case WarpOperation::kDecreaseRegisters:
      return "setmaxnreg.dec";
  }
  return "?";
}

}  // namespace

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

void BlockRun::report_group(int group) {
  std::string text = "the warps of a warpgroup do not agree:";
  for (int warp = 4 * group; warp < 4 * group + 4; ++warp) {
    text += fmt::format("{} warp {} is at {}", warp == 4 * group ? "" : ",", warp,
                        name(lane(warp, 0).call->operation));
  }
  report(FaultKind::kDivergence, 4 * group, 0,
         text + "; operation, shape, descriptors and counts have to be the same");
  lost_ = true;
}

std::string BlockRun::describe_wait(int warp) const {
  for (const auto& [id, barrier] : barriers_) {
    if (std::count(barrier.waiting.begin(), barrier.waiting.end(), warp) == 0) continue;
    return fmt::format("waits at barrier {}, where {} of {} threads have come", id, barrier.arrived,
                       barrier.expected);
  }
  std::string text;
  for (int i = 0; i < kWarpSize;) {
    const std::string state = describe_lane(warp, i);
    int end = i + 1;
    while (end < kWarpSize && describe_lane(warp, end) == state) ++end;
    if (i == 0 && end == kWarpSize) return state;
    text += fmt::format("{}lane {}{}", i == 0 ? "" : ", ", i,
                        end == i + 1 ? " " : fmt::format(" to {} ", end - 1)) +
            state;
    i = end;
  }
  return text;
}

std::string BlockRun::describe_lane(int warp, int index) const {
  const Lane& entry = lane(warp, index);
  switch (entry.state) {
    case LaneState::kDone:
      return "has ended";
    case LaneState::kWaiting:
      return mbarriers_.describe_wait(kWarpSize * warp + index);
    case LaneState::kMeeting:
      return fmt::format("waits at {} for its warp", name(entry.call->operation));
    case LaneState::kGroup:
      if (entry.call->operation == WarpOperation::kIncreaseRegisters &&
          std::count(register_waits_.begin(), register_waits_.end(), warp / 4) != 0) {
        return registers_.describe(warp / 4, entry.call->argument);
      }
      return fmt::format("waits at {} for its warpgroup", name(entry.call->operation));
    default:
      return "polls";
  }
}

void BlockRun::report_deadlock() {
  mbarriers_.report_stuck();
  std::string text = "nobody can go on:";
  int first_waiting = -1;
  const int warps = shape_.threads / kWarpSize;
  for (int warp = 0; warp < warps;) {
    const std::string state = describe_wait(warp);
    if (!lane_is(warp, LaneState::kDone) && first_waiting < 0) first_waiting = warp;
    int last = warp;
    while (last + 1 < warps && describe_wait(last + 1) == state) ++last;
    text += fmt::format("{} warp {}{}", warp == 0 ? "" : ";", warp,
                        last == warp ? " " : fmt::format(" to {} ", last)) +
            state;
    warp = last + 1;
  }
  for (const int group : register_waits_) {
    const int registers = lane(4 * group, 0).call->argument;
    report(FaultKind::kRegisterPool, 4 * group, 0,
           fmt::format("warpgroup {} {}: for ever", group, registers_.describe(group, registers)));
  }
  int index = 0;
  while (index < kWarpSize - 1 && lane(first_waiting, index).state == LaneState::kDone) ++index;
  report(FaultKind::kDeadlock, first_waiting, index, std::move(text));
}

}  // namespace heddle
