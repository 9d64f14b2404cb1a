#pragma once
// The host twin of templates/instruction/thread.cuh.

#include "host_calls.cuh"

namespace heddle {

constexpr int kWarpSize = 32;
constexpr unsigned kFullWarp = 0xffffffffu;

inline int thread_index() {
  return host::own_thread();
}
inline int block_index() {
  return host::own_block();
}
inline int lane() {
  return thread_index() % kWarpSize;
}
inline int warp() {
  return thread_index() / kWarpSize;
}

HEDDLE_TWIN void sync_team(int barrier, int threads) {
  host::WarpCall call;
  call.operation = host::WarpOperation::kSyncBarrier;
  call.argument = barrier;
  call.threads = threads;
  host::warp_call(call);
}
HEDDLE_TWIN void sync_block() {
  sync_team(0, 0);
}
HEDDLE_TWIN void sync_warp() {
  host::WarpCall call;
  call.operation = host::WarpOperation::kSyncWarp;
  host::warp_call(call);
}

namespace host {
HEDDLE_TWIN unsigned long long exchange(WarpOperation operation, int argument,
                                        unsigned long long value) {
  WarpCall call;
  call.operation = operation;
  call.argument = argument;
  call.value = value;
  warp_call(call);
  return call.result;
}

template <class Value>
HEDDLE_TWIN Value exchange_value(WarpOperation operation, int argument, Value value) {
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  bits = exchange(operation, argument, bits);
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
}  // namespace host

HEDDLE_TWIN bool sync_block_any(bool predicate) {
  return host::exchange(host::WarpOperation::kSyncBlockAny, 0, predicate) != 0;
}
HEDDLE_TWIN bool warp_any(bool predicate) {
  return host::exchange(host::WarpOperation::kAny, 0, predicate) != 0;
}
HEDDLE_TWIN bool warp_all(bool predicate) {
  return host::exchange(host::WarpOperation::kAll, 0, predicate) != 0;
}

template <class Value>
HEDDLE_TWIN Value shuffle_xor(Value value, int mask) {
  return host::exchange_value(host::WarpOperation::kShuffleXor, mask, value);
}
template <class Value>
HEDDLE_TWIN Value shuffle(Value value, int source) {
  return host::exchange_value(host::WarpOperation::kShuffle, source, value);
}

inline unsigned char* shared_memory() {
  return host::own_shared_memory();
}

}  // namespace heddle
