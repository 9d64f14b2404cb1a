// RUN: $file sm_90a |
#include "instruction/fence.cuh"
#include "instruction/mbarrier.cuh"
#include "instruction/thread.cuh"

// CHECK: .visible .entry kernel(
extern "C" __global__ void kernel(int* out) {
  auto& barrier = *reinterpret_cast<heddle::Barrier*>(heddle::shared_memory());
  if (heddle::thread_index() == 0) {
    // CHECK: mbarrier.init.shared::cta.b64 [%r{{[0-9]+}}], %r
    heddle::init(barrier, 3);
    // CHECK: fence.mbarrier_init.release.cluster;
    heddle::fence_barrier_init();
  }
  heddle::sync_block();
  // CHECK: mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r{{[0-9]+}}], %r
  heddle::expect_tx(barrier, 512);
  // CHECK: mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r{{[0-9]+}}], %r
  heddle::arrive_expect_tx(barrier, 1024);
  // CHECK: mbarrier.arrive.shared::cta.b64 _, [%r{{[0-9]+}}];
  heddle::arrive(barrier);
  // CHECK: mbarrier.test_wait.parity.shared::cta.b64 done, [%r{{[0-9]+}}], %r
  // CHECK-NEXT: selp.b32 %r{{[0-9]+}}, 1, 0, done;
  const int tested = heddle::test_wait(barrier, 0);
  // CHECK: mbarrier.try_wait.parity.shared::cta.b64 done, [%r{{[0-9]+}}], %r
  // CHECK-NEXT: selp.b32 %r{{[0-9]+}}, 1, 0, done;
  const int tried = heddle::try_wait(barrier, 1);
  // Two waits: the labels of one asm do not meet those of the next.
  // CHECK: again:
  // CHECK-NEXT: mbarrier.try_wait.parity.shared::cta.b64 done, [%r{{[0-9]+}}], %r
  // CHECK-NEXT: @!done bra again;
  heddle::wait(barrier, 0);
  // CHECK: again:
  // CHECK-NEXT: mbarrier.try_wait.parity.shared::cta.b64
  heddle::wait(barrier, 1);
  // CHECK: mbarrier.inval.shared::cta.b64 [%r{{[0-9]+}}];
  heddle::invalidate(barrier);
  *out = tested + 2 * tried;
}
