// What warps and warpgroups tell each other, and words that blocks share.
// RUN: $file sm_90a |
#include "instruction/atomic.cuh"
#include "instruction/elect.cuh"
#include "instruction/fence.cuh"
#include "instruction/named_barrier.cuh"
#include "instruction/setmaxnreg.cuh"
#include "instruction/sleep.cuh"

// CHECK: .visible .entry kernel(
extern "C" __global__ void __launch_bounds__(256, 1) kernel(int* words, unsigned* unsigned_word) {
  // CHECK: shfl.sync.idx.b32 %r
  const int warp = heddle::uniform(heddle::warp());
  if (warp < 4) {
    // CHECK: setmaxnreg.dec.sync.aligned.u32 24;
    heddle::decrease_registers<24>();
    // CHECK: bar.arrive %r{{[0-9]+}}, %r{{[0-9]+}};
    heddle::arrive_team(3, 256);
    // CHECK: elect.sync _|elected, 0xffffffff;
    // CHECK-NEXT: selp.b32 %r{{[0-9]+}}, 1, 0, elected;
    if (heddle::elect_one()) {
      // CHECK: atom.add.relaxed.gpu.global.s32 %r{{[0-9]+}}, [%rd{{[0-9]+}}], %r{{[0-9]+}};
      const int drawn = heddle::atomic_add(words, 1);
      // CHECK: atom.add.relaxed.gpu.global.u32 %r{{[0-9]+}}, [%rd{{[0-9]+}}], %r{{[0-9]+}};
      const unsigned counted = heddle::atomic_add(unsigned_word, 1u);
      // CHECK: atom.inc.relaxed.gpu.global.u32 %r{{[0-9]+}}, [%rd{{[0-9]+}}], %r{{[0-9]+}};
      const unsigned round = heddle::atomic_increment(unsigned_word + 1, counted);
      // CHECK: atom.add.acq_rel.gpu.global.s32 %r{{[0-9]+}}, [%rd{{[0-9]+}}], %r{{[0-9]+}};
      const int done = heddle::atomic_add_ordered(words + 1, 1);
      // CHECK: atom.exch.relaxed.gpu.global.b32 %r{{[0-9]+}}, [%rd{{[0-9]+}}], %r{{[0-9]+}};
      const int exchanged = heddle::atomic_exchange(words + 2, done);
      // CHECK: fence.acq_rel.cta;
      heddle::fence_block();
      // CHECK: fence.acq_rel.gpu;
      heddle::fence_device();
      // CHECK: st.release.gpu.global.s32 [%rd{{[0-9]+}}], %r{{[0-9]+}};
      heddle::store_release(words + 3, drawn + exchanged + static_cast<int>(round));
    }
  } else {
    // CHECK: setmaxnreg.inc.sync.aligned.u32 240;
    heddle::increase_registers<240>();
    // CHECK: bar.sync %r{{[0-9]+}}, %r{{[0-9]+}};
    heddle::sync_team(3, 256);
    // CHECK: ld.acquire.gpu.global.s32 %r{{[0-9]+}}, [%rd{{[0-9]+}}];
    // CHECK: nanosleep.u32 %r{{[0-9]+}};
    while (heddle::load_acquire(words + 3) == 0) heddle::sleep_nanoseconds(100);
  }
}
