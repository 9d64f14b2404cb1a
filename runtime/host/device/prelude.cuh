#pragma once
// Included before a kernel that is compiled for the host: CUDA's words, and what the compiler's
// instrumentation calls for every access to memory.

#ifdef HEDDLE_HOST_KERNEL
// Kernels are compiled by the hundred: to read <math.h> would take longer than the kernel itself.
extern "C" {
float fmaxf(float, float);
float fmaf(float, float, float);
float fabsf(float);
float copysignf(float, float);
float exp2f(float);
float log2f(float);
float expf(float);
float logf(float);
double exp(double);
double log(double);
void* memcpy(void*, const void*, unsigned long);
}
#define HUGE_VALF __builtin_huge_valf()
#else
#include <math.h>
#include <string.h>
#endif

#include "host_calls.cuh"

#define __global__ __attribute__((visibility("default")))
#define __launch_bounds__(...)
#define __grid_constant__
#define __device__
#define __host__

inline float __uint_as_float(unsigned bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
inline unsigned __float_as_uint(float value) {
  unsigned bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float __int_as_float(int bits) {
  return __uint_as_float(static_cast<unsigned>(bits));
}
inline int __float_as_int(float value) {
  return static_cast<int>(__float_as_uint(value));
}

#define HEDDLE_EXPORT extern "C" __attribute__((visibility("default"), no_sanitize("thread")))
HEDDLE_EXPORT void heddle_host_bind(const heddle::host::HostCalls* calls) {
  heddle::host::calls = calls;
}
HEDDLE_EXPORT void heddle_host_enter(const heddle::host::ThreadState* state) {
  heddle::host::thread_state = state;
}
#undef HEDDLE_EXPORT

#ifdef HEDDLE_HOST_KERNEL

// The kernel is compiled with -fsanitize=thread for its calls alone: they come here, and no
// sanitizer's library is linked. A thread's own stack is nobody else's business.
#define HEDDLE_HOOK \
  extern "C" __attribute__((visibility("hidden"), no_sanitize("thread"), noinline, used))

namespace heddle::host {
__attribute__((no_sanitize("thread"), always_inline)) inline void touch(const void* address,
                                                                        long long bytes, int flags,
                                                                        const void* where) {
  const auto* at = static_cast<const char*>(address);
  const ThreadState* state = thread_state;
  if (state == nullptr || (at >= state->stack_low && at < state->stack_high)) return;
  calls->access(state->engine, address, bytes, flags, where);
}
}  // namespace heddle::host

#define HEDDLE_HOOKS(size)                                                            \
  HEDDLE_HOOK void __tsan_read##size(void* at) {                                      \
    heddle::host::touch(at, size, heddle::host::kRead | heddle::host::kAligned,       \
                        __builtin_return_address(0));                                 \
  }                                                                                   \
  HEDDLE_HOOK void __tsan_write##size(void* at) {                                     \
    heddle::host::touch(at, size, heddle::host::kWrite | heddle::host::kAligned,      \
                        __builtin_return_address(0));                                 \
  }                                                                                   \
  HEDDLE_HOOK void __tsan_unaligned_read##size(void* at) {                            \
    heddle::host::touch(at, size, heddle::host::kRead, __builtin_return_address(0));  \
  }                                                                                   \
  HEDDLE_HOOK void __tsan_unaligned_write##size(void* at) {                           \
    heddle::host::touch(at, size, heddle::host::kWrite, __builtin_return_address(0)); \
  }
HEDDLE_HOOKS(1)
HEDDLE_HOOKS(2)
HEDDLE_HOOKS(4)
HEDDLE_HOOKS(8)
HEDDLE_HOOKS(16)
#undef HEDDLE_HOOKS

HEDDLE_HOOK void __tsan_read_range(void* at, unsigned long bytes) {
  heddle::host::touch(at, static_cast<long long>(bytes), heddle::host::kRead,
                      __builtin_return_address(0));
}
HEDDLE_HOOK void __tsan_write_range(void* at, unsigned long bytes) {
  heddle::host::touch(at, static_cast<long long>(bytes), heddle::host::kWrite,
                      __builtin_return_address(0));
}
HEDDLE_HOOK void __tsan_init() {}
HEDDLE_HOOK void __tsan_func_entry(void*) {}
HEDDLE_HOOK void __tsan_func_exit() {}
HEDDLE_HOOK void __tsan_vptr_update(void**, void*) {}

// Unoptimised code copies structs by memcpy, which the compiler does not report, or by a name of
// the sanitizer's.
HEDDLE_HOOK void* memcpy(void* to, const void* from, unsigned long bytes) {
  const auto size = static_cast<long long>(bytes);
  heddle::host::touch(from, size, heddle::host::kRead, __builtin_return_address(0));
  heddle::host::touch(to, size, heddle::host::kWrite, __builtin_return_address(0));
  return __builtin_memmove(to, from, bytes);
}
HEDDLE_HOOK void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
  const auto size = static_cast<long long>(bytes);
  heddle::host::touch(from, size, heddle::host::kRead, __builtin_return_address(0));
  heddle::host::touch(to, size, heddle::host::kWrite, __builtin_return_address(0));
  return __builtin_memmove(to, from, bytes);
}

// Arrays of a thread's own (registers, on a GPU) have no address to check; their indices have, by
// -fsanitize=bounds, and so have divisors. An access of no bytes at no address says so.
#define HEDDLE_BROKEN(name)                                                            \
  HEDDLE_HOOK void __ubsan_handle_##name(void*, void*, void*) {                        \
    heddle::host::touch(nullptr, 0, heddle::host::kRead, __builtin_return_address(0)); \
  }
HEDDLE_BROKEN(out_of_bounds)
HEDDLE_BROKEN(divrem_overflow)
#undef HEDDLE_BROKEN

#endif  // HEDDLE_HOST_KERNEL
