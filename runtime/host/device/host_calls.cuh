#pragma once
// What a kernel compiled for the host asks of the engine that runs it. Shared by both sides: plain
// structs and a table of functions, so that a kernel's shared object needs no symbol of its host.

namespace heddle::host {

/// What the lanes of a warp do together. Each lane brings its own WarpCall; when all have come, the
/// engine acts for the whole warp and fills in the results.
enum class WarpOperation : int {
  kSyncWarp,
  kSyncBarrier,    ///< argument = barrier, threads = how many it waits for (0: the block)
  kArriveBarrier,  ///< the same without waiting
  kSyncBlockAny,   ///< result = whether any thread of the block brought value != 0
  kAny,            ///< the same over the warp
  kAll,
  kShuffleXor,  ///< result = value of the lane whose index differs by argument
  kShuffle,     ///< result = value of lane `argument`
  kLoadMatrix,  ///< argument = how many 8x8 matrices (1, 2, 4); address = this lane's row
  kLoadMatrixTransposed,
  kMultiplyHalf,  ///< mma.m16n8k16, accumulator += a * b
  kMultiplyBFloat16,
};

struct WarpCall {
  WarpOperation operation;
  int argument;
  int threads;
  unsigned long long value;
  unsigned long long result;
  const void* address;
  unsigned a[4];  ///< mma: A fragment; ldmatrix: the registers received
  unsigned b[2];
  float accumulator[4];
};

/// How memory is touched.
enum AccessFlags : int { kRead = 0, kWrite = 1, kAligned = 2 };

struct CopyAsync {
  void* destination;
  const void* source;
  int bytes;         ///< written at the destination
  int source_bytes;  ///< read from the source; zeros make up the rest
};

/// What the running CUDA thread knows of itself. One per worker of the engine.
struct ThreadState {
  void* engine;
  const char* stack_low;
  const char* stack_high;
  int thread;
  int block;
  unsigned char* shared_memory;
};

/// What a kernel may ask. `where` is the code address to report.
struct HostCalls {
  void (*access)(void* engine, const void* address, long long bytes, int flags, const void* where);
  void (*warp)(void* engine, WarpCall& call, const void* where);
  void (*copy_async)(void* engine, const CopyAsync& copy, const void* where);
  void (*copy_async_commit)(void* engine);
  void (*copy_async_wait)(void* engine, int pending);
};

// Set by the engine through the functions that prelude.cuh exports.
inline const HostCalls* calls = nullptr;
inline thread_local const ThreadState* thread_state = nullptr;

/// A twin is inlined, so that what it asks for is asked from the kernel's own line.
#define HEDDLE_TWIN inline __attribute__((always_inline))
/// A gate leads to the engine: not instrumented, and a function of its own, so that its return
/// address is that line.
#define HEDDLE_GATE inline __attribute__((no_sanitize("thread"), noinline))

HEDDLE_GATE int own_thread() {
  return thread_state->thread;
}
HEDDLE_GATE int own_block() {
  return thread_state->block;
}
HEDDLE_GATE unsigned char* own_shared_memory() {
  return thread_state->shared_memory;
}

HEDDLE_GATE void check(const void* address, long long bytes, int flags) {
  calls->access(thread_state->engine, address, bytes, flags, __builtin_return_address(0));
}
HEDDLE_GATE void warp_call(WarpCall& call) {
  calls->warp(thread_state->engine, call, __builtin_return_address(0));
}
HEDDLE_GATE void copy_async(const CopyAsync& copy) {
  calls->copy_async(thread_state->engine, copy, __builtin_return_address(0));
}
HEDDLE_GATE void copy_async_commit() {
  calls->copy_async_commit(thread_state->engine);
}
HEDDLE_GATE void copy_async_wait(int pending) {
  calls->copy_async_wait(thread_state->engine, pending);
}

/// A copy that the instrumentation does not see; the twins have said already what they touch.
HEDDLE_GATE void move_bytes(void* to, const void* from, int bytes) {
  __builtin_memcpy(to, from, static_cast<unsigned long>(bytes));
}

}  // namespace heddle::host
