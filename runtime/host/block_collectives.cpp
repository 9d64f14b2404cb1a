// What the lanes of a warp do together.
#include "runtime/host/block_run.hpp"

namespace heddle {
namespace {

using host::WarpOperation;

constexpr int kWarpSize = 32;

bool names_threads(WarpOperation operation) {
  return operation == WarpOperation::kSyncBarrier || operation == WarpOperation::kArriveBarrier;
}
/// All lanes must agree on the argument. (A shuffle's may differ lane by lane.)
bool has_argument(WarpOperation operation) {
  switch (operation) {
    case WarpOperation::kSyncBarrier:
    case WarpOperation::kArriveBarrier:
    case WarpOperation::kLoadMatrix:
    case WarpOperation::kLoadMatrixTransposed:
    case WarpOperation::kStoreMatrix:
    case WarpOperation::kStoreMatrixTransposed:
    case WarpOperation::kProductWait:
    case WarpOperation::kIncreaseRegisters:
    case WarpOperation::kDecreaseRegisters:
      return true;
    default:
      return false;
  }
}

bool is_group_operation(WarpOperation operation) {
  return operation == WarpOperation::kProduct || operation == WarpOperation::kIncreaseRegisters ||
         operation == WarpOperation::kDecreaseRegisters;
}

}  // namespace

bool BlockRun::agree(int warp) const {
  const host::WarpCall& first = *lane(warp, 0).call;
  for (int i = 1; i < kWarpSize; ++i) {
    const host::WarpCall& other = *lane(warp, i).call;
    if (first.operation != other.operation) return false;
    if (has_argument(first.operation) && first.argument != other.argument) return false;
    if (names_threads(first.operation) && first.threads != other.threads) return false;
  }
  return true;
}

void BlockRun::perform(int warp) {
  if (!agree(warp)) return report_divergence(warp);
  const WarpOperation operation = lane(warp, 0).call->operation;
  if (is_group_operation(operation)) return meet_group(warp);
  const bool is_barrier = operation == WarpOperation::kSyncBarrier ||
                          operation == WarpOperation::kSyncBlockAny ||
                          operation == WarpOperation::kArriveBarrier;
  if (is_barrier) return arrive(warp);
  perform_alone(warp);
  if (!lost_) release(warp);
}

void BlockRun::perform_alone(int warp) {
  const WarpOperation operation = lane(warp, 0).call->operation;
  const WarpCalls calls = calls_of(warp);
  const MatrixUnits::Issue issue{warp, calls, lane(warp, 0).where};
  switch (operation) {
    case WarpOperation::kSyncWarp:
      return sync_warp(warp);
    case WarpOperation::kAny:
    case WarpOperation::kAll:
      return vote(warp);
    case WarpOperation::kShuffleXor:
    case WarpOperation::kShuffle:
      return shuffle(warp);
    case WarpOperation::kElect:
      return elect(warp);
    case WarpOperation::kLoadMatrix:
    case WarpOperation::kLoadMatrixTransposed:
    case WarpOperation::kStoreMatrix:
    case WarpOperation::kStoreMatrixTransposed:
      return move_matrices(warp);
    case WarpOperation::kProductFence:
      return matrix_units_.fence(issue);
    case WarpOperation::kProductCommit:
      return matrix_units_.commit(issue);
    case WarpOperation::kProductWait:
      return matrix_units_.wait(issue);
    default:
      return multiply_matrices(calls, operation);
  }
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

void BlockRun::elect(int warp) {
  for (int i = 0; i < kWarpSize; ++i) lane(warp, i).call->result = i == elected_;
}

/// ldmatrix and stmatrix.
void BlockRun::move_matrices(int warp) {
  const WarpOperation operation = lane(warp, 0).call->operation;
  const bool writes = operation == WarpOperation::kStoreMatrix ||
                      operation == WarpOperation::kStoreMatrixTransposed;
  const int rows = 8 * lane(warp, 0).call->argument;
  for (int i = 0; i < rows; ++i) {
    const Access access{lane(warp, i).call->address, 16, writes, true, kWarpSize * warp + i,
                        lane(warp, i).where};
    const bool shared = check_.is_shared(access.address, access.bytes);
    if (check_.touch(access) && shared) continue;
    if (!shared) {
      report(FaultKind::kOutOfBounds, warp, i, "ldmatrix or stmatrix outside shared memory");
    }
    lost_ = true;
    return;
  }
  if (writes) {
    store_matrices(calls_of(warp), operation == WarpOperation::kStoreMatrixTransposed);
  } else {
    load_matrices(calls_of(warp), operation == WarpOperation::kLoadMatrixTransposed);
  }
}

/// Orders the memory of the warp's threads: what each did before, all know after.
void BlockRun::sync_warp(int warp) {
  Clocks& clocks = check_.clocks();
  Knowledge all;
  for (int i = 0; i < kWarpSize; ++i) clocks.release(kWarpSize * warp + i, all);
  for (int i = 0; i < kWarpSize; ++i) {
    clocks.acquire(kWarpSize * warp + i, all);
    clocks.tick(kWarpSize * warp + i);
  }
}

}  // namespace heddle
