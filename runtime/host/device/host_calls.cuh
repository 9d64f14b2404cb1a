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
  kStoreMatrix,  ///< the same the other way
  kStoreMatrixTransposed,
  kMultiplyHalf,  ///< mma.m16n8k16, accumulator += a * b
  kMultiplyBFloat16,
  kMultiplyE4m3,       ///< mma.m16n8k32
  kElect,              ///< result = whether this lane is the one
  kProductFence,       ///< wgmma.fence; registers = those named
  kProductCommit,      ///< wgmma.commit_group
  kProductWait,        ///< wgmma.wait_group `argument`; registers = those named
  kProduct,            ///< wgmma.mma_async; the whole warpgroup meets
  kIncreaseRegisters,  ///< setmaxnreg to `argument`; the whole warpgroup meets
  kDecreaseRegisters,
};

/// An array that stands for registers: where it is, and how many 32-bit registers.
struct RegisterRange {
  unsigned* first;
  int count;
};

/// One wgmma.mma_async as one thread sees it.
struct MatrixProduct {
  WarpOperation element;  ///< kMultiply…: the element type
  int columns;            ///< n; accumulators are half as many
  float* accumulators;
  const unsigned* a;  ///< four registers, or null: `a_descriptor` says where
  unsigned long long a_descriptor;
  unsigned long long b_descriptor;
  bool a_transposed;  ///< the depth runs over rows of shared memory
  bool b_transposed;
  bool adds;  ///< else what the accumulators hold does not matter
};

struct WarpCall {
  WarpOperation operation;
  int argument;
  int threads;
  unsigned long long value;
  unsigned long long result;
  const void* address;
  unsigned a[4];  ///< mma: A fragment; ldmatrix, stmatrix: the registers
  unsigned b[2];
  float accumulator[4];
  const RegisterRange* registers;
  int register_ranges;
  const MatrixProduct* product;
};

/// What one thread asks of a barrier in shared memory.
enum class BarrierOperation : int {
  kInit,  ///< number = arrivals a phase
  kInvalidate,
  kArrive,
  kArriveExpect,  ///< number = bytes
  kExpect,
  kTest,  ///< number = parity; result = whether that phase has ended
  kWait,
};

struct BarrierCall {
  BarrierOperation operation;
  void* barrier;
  int number;
  bool result;
};

/// Copies by the TMA and the bulk copy engine.
struct BulkCopy {
  bool store;  ///< from shared to global memory
  void* shared;
  const void* map;  ///< a TensorMap, or null: `bytes` bytes at `global`
  void* global;
  int bytes;
  int rank;
  int at[5];
  void* barrier;  ///< loads
};

enum class FenceKind : int { kAsyncShared, kBarrierInit };

/// What blocks share: words of global memory.
enum class AtomicOperation : int { kAdd, kIncrement, kExchange, kLoad, kStore };

struct AtomicCall {
  AtomicOperation operation;
  void* address;
  unsigned value;
  unsigned result;
  bool ordered;  ///< acquire, release or both, as the operation reads or writes
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
  int block_count;
  unsigned char* shared_memory;
};

/// What a kernel may ask. `where` is the code address to report.
struct HostCalls {
  void (*access)(void* engine, const void* address, long long bytes, int flags, const void* where);
  void (*warp)(void* engine, WarpCall& call, const void* where);
  void (*copy_async)(void* engine, const CopyAsync& copy, const void* where);
  void (*copy_async_commit)(void* engine);
  void (*copy_async_wait)(void* engine, int pending);
  void (*barrier)(void* engine, BarrierCall& call, const void* where);
  void (*bulk_copy)(void* engine, const BulkCopy& copy, const void* where);
  void (*bulk_commit)(void* engine);
  void (*bulk_wait)(void* engine, int pending, const void* where);
  void (*fence)(void* engine, FenceKind kind);
  void (*atomic)(void* engine, AtomicCall& call, const void* where);
  unsigned (*shared_address)(void* engine, const void* pointer, const void* where);
  void (*yield)(void* engine);
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
HEDDLE_GATE int own_block_count() {
  return thread_state->block_count;
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
HEDDLE_GATE void barrier_call(BarrierCall& call) {
  calls->barrier(thread_state->engine, call, __builtin_return_address(0));
}
HEDDLE_GATE void bulk_copy(const BulkCopy& copy) {
  calls->bulk_copy(thread_state->engine, copy, __builtin_return_address(0));
}
HEDDLE_GATE void bulk_commit() {
  calls->bulk_commit(thread_state->engine);
}
HEDDLE_GATE void bulk_wait(int pending) {
  calls->bulk_wait(thread_state->engine, pending, __builtin_return_address(0));
}
HEDDLE_GATE void fence(FenceKind kind) {
  calls->fence(thread_state->engine, kind);
}
HEDDLE_GATE void atomic_call(AtomicCall& call) {
  calls->atomic(thread_state->engine, call, __builtin_return_address(0));
}
HEDDLE_GATE unsigned address_in_shared(const void* pointer) {
  return calls->shared_address(thread_state->engine, pointer, __builtin_return_address(0));
}
HEDDLE_GATE void yield() {
  calls->yield(thread_state->engine);
}

/// A copy that the instrumentation does not see (prelude.cuh sees each memcpy); the twins have said
/// already what they touch.
HEDDLE_GATE void move_bytes(void* to, const void* from, int bytes) {
  __builtin_memmove(to, from, static_cast<unsigned long>(bytes));
}

}  // namespace heddle::host
