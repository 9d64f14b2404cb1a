// 8-bit elements, and 16-bit fragments on their way to shared memory.
// RUN: $file sm_90a |
#include "instruction/byte_permute.cuh"
#include "instruction/e4m3.cuh"
#include "instruction/stmatrix.cuh"
#include "instruction/thread.cuh"

using heddle::E4M3;

// CHECK: .visible .entry kernel(
extern "C" __global__ void kernel(float4* values, unsigned* words, E4M3* element, float* out) {
  const float4 v = *values;
  // CHECK: ld.global.v4.{{[bf]}}32 {[[X:%[rf][0-9]+]], [[Y:%[rf][0-9]+]], [[Z:%[rf][0-9]+]],
  // CHECK-SAME: [[W:%[rf][0-9]+]]}

  // CHECK: cvt.rn.satfinite.e4m3x2.f32 %rs{{[0-9]+}}, [[Y]], [[X]];
  words[0] = heddle::pack(v.x, v.y, E4M3{});
  // CHECK: cvt.rn.satfinite.e4m3x2.f32 low, [[Y]], [[X]];
  // CHECK-NEXT: cvt.rn.satfinite.e4m3x2.f32 high, [[W]], [[Z]];
  // CHECK-NEXT: mov.b32 [[PACKED:%r[0-9]+]], {low, high};
  const unsigned packed = heddle::pack(v.x, v.y, v.z, v.w, E4M3{});
  // CHECK: prmt.b32 %r{{[0-9]+}}, [[PACKED]], %r{{[0-9]+}}, %r{{[0-9]+}};
  const unsigned even = heddle::byte_permute(packed, words[0], 0x6420);

  unsigned char* row = heddle::shared_memory() + 16 * heddle::lane();
  const unsigned fragment[4] = {packed, even, packed, even};
  // CHECK: stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r{{[0-9]+}}], {[[PACKED]], [[EVEN:%r[0-9]+]],
  // CHECK-SAME: [[PACKED]], [[EVEN]]};
  heddle::store_matrix_x4(row, 0, fragment);
  // CHECK: stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r{{[0-9]+}}], {[[PACKED]], [[EVEN]],
  // CHECK-SAME: [[PACKED]], [[EVEN]]};
  heddle::store_matrix_x4_transposed(row, 512, fragment);

  // CHECK: cvt.rn.f16x2.e4m3x2 %r{{[0-9]+}}, %rs{{[0-9]+}};
  // CHECK: cvt.f32.f16
  *out = heddle::to_float(element[0]);
  // CHECK: cvt.rn.satfinite.e4m3x2.f32
  // CHECK: st.global.{{[ub]}}8
  element[1] = heddle::from_float<E4M3>(v.z);
}
