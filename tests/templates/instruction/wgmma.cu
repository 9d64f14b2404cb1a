// The two products of attention on one tile of 16-bit elements: S = Q K^T with both operands in
// shared memory, O += P V with P in registers and V as it is stored.
// RUN: $file sm_90a bf16 64/shared 128/registers | --check-prefixes=CHECK,BF16
// RUN: $file sm_90a fp16 64/shared 128/registers | --check-prefixes=CHECK,FP16
// RUN: $file sm_90a bf16 64/shared 128/registers | --check-prefix=COUNT
#include "instruction_forms.cuh"

#include "element.cuh"
#include "instruction/fence.cuh"
#include "instruction/thread.cuh"

using heddle::Major;
using heddle::SwizzledTile;

constexpr SwizzledTile kTile{64, heddle::Swizzle::k128};

// CHECK: .visible .entry kernel(
extern "C" __global__ void __launch_bounds__(128, 1) kernel(float* out) {
  unsigned char* shared = heddle::shared_memory();
  const auto q = heddle::matrix_descriptor(shared, k_major_layout(kTile));
  const auto k = heddle::matrix_descriptor(shared + 16384, k_major_layout(kTile));
  const auto v = heddle::matrix_descriptor(shared + 32768, mn_major_layout(kTile));

  float s[32];
  float o[64] = {};
  // CHECK: wgmma.fence.sync.aligned;
  heddle::wgmma_fence();
  // No register is set to zero first: what s held does not matter.
  // BF16: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%{{[^}]+}}}, %rd{{[0-9]+}},
  // BF16-SAME: %rd{{[0-9]+}}, 0, 1, 1, 0, 0;
  // FP16: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%{{[^}]+}}}, %rd{{[0-9]+}},
  // FP16-SAME: %rd{{[0-9]+}}, 0, 1, 1, 0, 0;
  heddle::wgmma_set<Major::kK, Major::kK>(s, q, k, Element{});
#pragma unroll
  for (int step = 1; step < 8; ++step) {
    const int bytes = k_major_step_bytes(kTile, step);
    // BF16: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%{{[^}]+}}}, %rd{{[0-9]+}},
    // BF16-SAME: %rd{{[0-9]+}}, 1, 1, 1, 0, 0;
    // FP16: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%{{[^}]+}}}, %rd{{[0-9]+}},
    // FP16-SAME: %rd{{[0-9]+}}, 1, 1, 1, 0, 0;
    heddle::wgmma_add<Major::kK, Major::kK>(s, advance(q, bytes), advance(k, bytes), Element{});
  }
  // CHECK: wgmma.commit_group.sync.aligned;
  heddle::wgmma_commit();
  // CHECK: wgmma.wait_group.sync.aligned 0;
  heddle::wgmma_wait<0>(s);

  unsigned p[4][4];
#pragma unroll
  // BF16-COUNT-16: cvt.rn.bf16x2.f32
  // FP16-COUNT-16: cvt.rn.f16x2.f32
  for (int i = 0; i < 16; ++i) p[i / 4][i % 4] = heddle::pack(s[2 * i], s[2 * i + 1], Element{});
  // The packing is over before the fence.
  // CHECK-NOT: cvt.rn
  // CHECK: wgmma.fence.sync.aligned;
  heddle::wgmma_fence(o, p);
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    // BF16: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%{{[^}]+}}}, {%r{{[0-9]+}},
    // BF16-SAME: %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, %rd{{[0-9]+}}, 1, 1, 1, 1;
    // FP16: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%{{[^}]+}}}, {%r{{[0-9]+}},
    // FP16-SAME: %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, %rd{{[0-9]+}}, 1, 1, 1, 1;
    heddle::wgmma_add<Major::kMn>(o, p[step], advance(v, mn_major_step_bytes(kTile, step)),
                                  Element{});
  }
  // CHECK: wgmma.commit_group.sync.aligned;
  heddle::wgmma_commit();
  // CHECK: wgmma.wait_group.sync.aligned 1;
  heddle::wgmma_wait<1>();
  // CHECK: wgmma.wait_group.sync.aligned 0;
  heddle::wgmma_wait<0>(o, p);

  // The form that overwrites, with A in registers; both operands in shared memory and A transposed.
  // BF16: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%{{[^}]+}}}, {%r{{[^}]+}}},
  // BF16-SAME: %rd{{[0-9]+}}, 0, 1, 1, 0;
  float again[64];
  heddle::wgmma_fence(p);
  heddle::wgmma_set<Major::kK>(again, p[0], v, Element{});
  // BF16: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%{{[^}]+}}}, %rd{{[0-9]+}},
  // BF16-SAME: %rd{{[0-9]+}}, 1, 1, 1, 1, 0;
  heddle::wgmma_add<Major::kMn, Major::kK>(s, v, k, Element{});
  heddle::wgmma_commit();
  heddle::wgmma_wait<0>(again, s, p);

  // COUNT-COUNT-14: wgmma.mma_async
  // COUNT-NOT: wgmma.mma_async
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 64; ++i) sum += o[i] * again[i] + s[i / 2];
  out[heddle::thread_index()] = sum;
}
