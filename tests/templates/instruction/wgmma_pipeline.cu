// A main loop as fast kernels have it: the next scores are computed while this block's output is,
// two warpgroups share a producer, registers move to them. ptxas serialises nothing (the probe
// fails if it does), and the exponentials stay between the two waits.
// RUN: $file sm_90a bf16 128/shared 128/registers |
#include "instruction_forms.cuh"

#include "element.cuh"
#include "instruction/elect.cuh"
#include "instruction/fence.cuh"
#include "instruction/math.cuh"
#include "instruction/setmaxnreg.cuh"
#include "instruction/thread.cuh"
#include "instruction/tma.cuh"

using heddle::Barrier;
using heddle::Major;

constexpr heddle::SwizzledTile kTile{128, heddle::Swizzle::k128};

struct Parameters {
  heddle::TensorMap map;
  int blocks;
  float* out;
};

struct Shared {
  alignas(1024) unsigned char query[32768], tile[2][32768];
  Barrier full[2], empty[2];
};

inline void produce(const Parameters& parameters, Shared& shared) {
  for (int block = 0; block < 2 * parameters.blocks; ++block) {
    const int stage = block % 2;
    heddle::wait(shared.empty[stage], block / 2 % 2 ^ 1);
    heddle::arrive_expect_tx(shared.full[stage], sizeof shared.tile[0]);
    heddle::load_tile(shared.tile[stage], parameters.map, shared.full[stage], {0, 128 * block});
    heddle::load_tile(shared.tile[stage] + kTile.block_bytes(), parameters.map, shared.full[stage],
                      {64, 128 * block});
  }
}

inline void scores(float (&s)[64], const Shared& shared) {
  const auto a = heddle::matrix_descriptor(shared.query, k_major_layout(kTile));
  const auto b = heddle::matrix_descriptor(shared.tile[0], k_major_layout(kTile));
  heddle::wgmma_set<Major::kK, Major::kK>(s, a, b, Element{});
#pragma unroll
  for (int step = 1; step < 8; ++step) {
    const int bytes = k_major_step_bytes(kTile, step);
    heddle::wgmma_add<Major::kK, Major::kK>(s, advance(a, bytes), advance(b, bytes), Element{});
  }
  heddle::wgmma_commit();
}

inline void outputs(float (&o)[64], const unsigned (&p)[8][4], const Shared& shared) {
  const auto b = heddle::matrix_descriptor(shared.tile[1], mn_major_layout(kTile));
#pragma unroll
  for (int step = 0; step < 8; ++step) {
    const int bytes = mn_major_step_bytes(kTile, step);
    heddle::wgmma_add<Major::kMn>(o, p[step], advance(b, bytes), Element{});
  }
  heddle::wgmma_commit();
}

inline void consume(const Parameters& parameters, Shared& shared) {
  float s[64], o[64] = {};
  unsigned p[8][4] = {};
  const bool leads = heddle::lane() == 0;
  for (int block = 0; block < parameters.blocks; ++block) {
    heddle::wait(shared.full[0], block % 2);
    heddle::wgmma_fence();
    scores(s, shared);
    heddle::wait(shared.full[1], block % 2);
    heddle::wgmma_fence(o, p);
    outputs(o, p, shared);
    heddle::wgmma_wait<1>(s);
    if (leads) heddle::arrive(shared.empty[0]);
#pragma unroll
    for (float& value : s) value = heddle::fast_exp2(value);
    heddle::wgmma_wait<0>(o, p);
    if (leads) heddle::arrive(shared.empty[1]);
#pragma unroll
    for (int i = 0; i < 32; ++i) p[i / 4][i % 4] = heddle::pack(s[2 * i], s[2 * i + 1], Element{});
  }
#pragma unroll
  for (int i = 0; i < 64; ++i) parameters.out[64 * heddle::thread_index() + i] = o[i];
}

// CHECK: .visible .entry kernel(
extern "C" __global__ void __launch_bounds__(384, 1)
    kernel(const __grid_constant__ Parameters parameters) {
  Shared& shared = *reinterpret_cast<Shared*>(heddle::shared_memory());
  if (heddle::thread_index() == 0) {
    for (int i = 0; i < 2; ++i) heddle::init(shared.full[i], 1), heddle::init(shared.empty[i], 8);
    heddle::fence_barrier_init();
  }
  heddle::sync_block();
  if (heddle::uniform(heddle::warp() / 4) == 2) {
    heddle::decrease_registers<24>();
    if (heddle::warp() == 8 && heddle::elect_one()) produce(parameters, shared);
  } else {
    heddle::increase_registers<240>();
    consume(parameters, shared);
  }
}

// CHECK: wgmma.fence
// CHECK-COUNT-8: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// CHECK: wgmma.commit_group
// CHECK: mbarrier.try_wait
// CHECK: wgmma.fence
// CHECK-COUNT-8: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// CHECK: wgmma.commit_group
// CHECK-NEXT: inline asm
// CHECK-NOT: ex2
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK-COUNT-64: ex2.approx
// CHECK-NOT: cvt.rn.bf16x2
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK-COUNT-32: cvt.rn.bf16x2
