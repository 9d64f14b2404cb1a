#pragma once
// Barriers in shared memory that count arrivals and the bytes of asynchronous copies (sm_90+).

#include "instruction/cp_async.cuh"

namespace heddle {

/// Lives in shared memory. Its phases are numbered 0, 1, 2 …; phase n ends once the set number of
/// arrivals has come and as many bytes have landed as were expected, and phase n + 1 begins.
struct alignas(8) Barrier {
  unsigned long long state;
};

/// Begins phase 0 of a barrier of `arrivals` arrivals a phase. One thread does this; the others may
/// use it after fence_barrier_init() (instruction/fence.cuh) and sync_block().
inline void init(Barrier& barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)),
               "r"(arrivals)
               : "memory");
}

/// Makes the barrier's memory ordinary again.
inline void invalidate(Barrier& barrier) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(&barrier)) : "memory");
}

/// One arrival. What this thread wrote or read before is ordered before the waits that it ends.
inline void arrive(Barrier& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier))
               : "memory");
}

/// Raises the bytes that the current phase expects, then arrives. Copies count in full, also where
/// their box overhangs the tensor.
inline void arrive_expect_tx(Barrier& barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
      "r"(bytes)
      : "memory");
}

/// Raises the bytes that the current phase expects, without an arrival.
inline void expect_tx(Barrier& barrier, int bytes) {
  asm volatile(
      "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)),
      "r"(bytes)
      : "memory");
}

// Waits name a phase by its parity. The phase meant is the current one or the one before it, so a
// wait for parity 1 of a fresh barrier is over at once: that is how a producer finds its ring
// empty.

/// Whether the phase of that parity has ended.
inline bool test_wait(Barrier& barrier, unsigned parity) {
  unsigned done;
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "mbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2;\n"
      "selp.b32 %0, 1, 0, done;\n"
      "}"
      : "=r"(done)
      : "r"(shared_address(&barrier)), "r"(parity)
      : "memory");
  return done != 0;
}

/// The same, but the thread may sleep for a while before the answer is no.
inline bool try_wait(Barrier& barrier, unsigned parity) {
  unsigned done;
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
      "selp.b32 %0, 1, 0, done;\n"
      "}"
      : "=r"(done)
      : "r"(shared_address(&barrier)), "r"(parity)
      : "memory");
  return done != 0;
}

/// Until the phase of that parity has ended; then what was ordered before its arrivals, and the
/// bytes it expected, are visible. The loop is inside the asm: no register carries its predicate.
/// Left to itself, try_wait gives up after a hundred cycles, and a warp that tries again and again
/// takes issue slots from others: the hint lets it sleep for up to a millisecond.
inline void wait(Barrier& barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1, 1000000;\n"
      "@!done bra again;\n"
      "}" ::"r"(shared_address(&barrier)),
      "r"(parity)
      : "memory");
}

}  // namespace heddle
