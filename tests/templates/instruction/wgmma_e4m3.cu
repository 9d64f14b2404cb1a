// The two products of attention on one tile of 8-bit elements: both operands are k-major, so V is
// transposed in memory, its keys in the order that leaves accumulators where they are.
// RUN: $file sm_90a e4m3 96/shared 64/registers |
#include "instruction_forms.cuh"

#include "element.cuh"
#include "instruction/thread.cuh"
#include "wgmma_fragment.cuh"

using heddle::Major;
using heddle::SwizzledTile;

constexpr SwizzledTile kKeys{96, heddle::Swizzle::k64};
constexpr SwizzledTile kValues{64, heddle::Swizzle::k32};

// CHECK: .visible .entry kernel(
extern "C" __global__ void __launch_bounds__(128, 1) kernel(float* out) {
  unsigned char* shared = heddle::shared_memory();
  const auto q = heddle::matrix_descriptor(shared, k_major_layout(kKeys));
  const auto k = heddle::matrix_descriptor(shared + 8192, k_major_layout(kKeys));
  const auto v = heddle::matrix_descriptor(shared + 16384, k_major_layout(kValues));

  float s[48];
  heddle::wgmma_fence();
  // CHECK: wgmma.mma_async.sync.aligned.m64n96k32.f32.e4m3.e4m3 {%{{[^}]+}}}, %rd{{[0-9]+}},
  // CHECK-SAME: %rd{{[0-9]+}}, 0, 1, 1;
  heddle::wgmma_set<Major::kK, Major::kK>(s, q, k, Element{});
  // CHECK: wgmma.mma_async.sync.aligned.m64n96k32.f32.e4m3.e4m3 {%{{[^}]+}}}, %rd{{[0-9]+}},
  // CHECK-SAME: %rd{{[0-9]+}}, 1, 1, 1;
  const int step = k_major_step_bytes(kKeys, 1);
  heddle::wgmma_add<Major::kK, Major::kK>(s, advance(q, step), advance(k, step), Element{});
  heddle::wgmma_commit();
  heddle::wgmma_wait<0>(s);

  // Neither a shuffle nor a permutation of bytes.
  // CHECK-NOT: shfl
  // CHECK-NOT: prmt
  unsigned p[3][4];
#pragma unroll
  for (int i = 0; i < 12; ++i) {
    const int first = heddle::wgmma_8bit_first_accumulator(i);
    p[i / 4][i % 4] = heddle::pack(s[first], s[first + 1], s[first + 4], s[first + 5], Element{});
  }
  float o[32];
  heddle::wgmma_fence(p);
  // CHECK: wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {%{{[^}]+}}}, {%r{{[^}]+}}},
  // CHECK-SAME: %rd{{[0-9]+}}, 0, 1, 1;
  heddle::wgmma_set<Major::kK>(o, p[0], v, Element{});
#pragma unroll
  for (int i = 1; i < 3; ++i) {
    // CHECK: wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {%{{[^}]+}}}, {%r{{[^}]+}}},
    // CHECK-SAME: %rd{{[0-9]+}}, 1, 1, 1;
    heddle::wgmma_add<Major::kK>(o, p[i], advance(v, k_major_step_bytes(kValues, i)), Element{});
  }
  heddle::wgmma_commit();
  heddle::wgmma_wait<0>(o, p);

  // The same element type for one warp.
  // CHECK: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32
  float d[4] = {o[0], o[1], o[2], o[3]};
  const unsigned b[2] = {p[1][0], p[1][1]};
  heddle::mma_m16n8k32(d, p[0], b, Element{});
  float sum = 0;
#pragma unroll
  for (int i = 4; i < 32; ++i) sum += o[i];
  out[heddle::thread_index()] = sum + d[0] + d[1] + d[2] + d[3];
}
