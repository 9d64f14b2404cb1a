// What the four warps of a warpgroup do together: wgmma and setmaxnreg.
#include <algorithm>

#include "runtime/host/block_run.hpp"

namespace heddle {
namespace {

using host::WarpOperation;

constexpr int kGroupWarps = 4;

bool same_product(const host::MatrixProduct& left, const host::MatrixProduct& right) {
  return left.element == right.element && left.columns == right.columns &&
         left.adds == right.adds && (left.a == nullptr) == (right.a == nullptr) &&
         left.a_descriptor == right.a_descriptor && left.b_descriptor == right.b_descriptor &&
         left.a_transposed == right.a_transposed && left.b_transposed == right.b_transposed;
}

bool same_call(const host::WarpCall& left, const host::WarpCall& right) {
  if (left.operation != right.operation) return false;
  return left.operation == WarpOperation::kProduct ? same_product(*left.product, *right.product)
                                                   : left.argument == right.argument;
}

}  // namespace

void BlockRun::meet_group(int warp) {
  const int group = warp / kGroupWarps;
  for (int i = 0; i < 32; ++i) lane(warp, i).state = LaneState::kGroup;
  for (int other = kGroupWarps * group; other < kGroupWarps * (group + 1); ++other) {
    const bool exists = 32 * other < shape_.threads;
    if (!exists || !lane_is(other, LaneState::kGroup)) return;
  }
  if (!group_agrees(group)) return report_group(group);
  perform_group(group);
}

bool BlockRun::group_agrees(int group) const {
  const host::WarpCall& first = *lane(kGroupWarps * group, 0).call;
  for (int warp = kGroupWarps * group; warp < kGroupWarps * (group + 1); ++warp) {
    for (int i = 0; i < 32; ++i) {
      if (!same_call(first, *lane(warp, i).call)) return false;
    }
  }
  return true;
}

void BlockRun::perform_group(int group) {
  if (lane(kGroupWarps * group, 0).call->operation != WarpOperation::kProduct) {
    return change_registers(group);
  }
  for (int warp = kGroupWarps * group; warp < kGroupWarps * (group + 1); ++warp) {
    const WarpCalls calls = calls_of(warp);
    if (!matrix_units_.multiply({warp, calls, lane(warp, 0).where})) lost_ = true;
    release(warp);
  }
}

void BlockRun::change_registers(int group) {
  const int warp = kGroupWarps * group;
  const host::WarpCall& call = *lane(warp, 0).call;
  const bool increases = call.operation == WarpOperation::kIncreaseRegisters;
  const auto wrong = increases ? registers_.check_increase(group, call.argument)
                               : registers_.decrease(group, call.argument);
  if (wrong) report(FaultKind::kRegisterPool, warp, 0, *wrong);
  if (increases) {
    register_waits_.push_back(group);
  } else {
    for (int i = 0; i < kGroupWarps; ++i) release(warp + i);
  }
  serve_register_waits();
}

/// Lets those go on for whom the pool has enough.
void BlockRun::serve_register_waits() {
  std::erase_if(register_waits_, [&](int group) {
    const int warp = kGroupWarps * group;
    if (!registers_.increase(group, lane(warp, 0).call->argument)) return false;
    for (int i = 0; i < kGroupWarps; ++i) release(warp + i);
    return true;
  });
}

}  // namespace heddle
