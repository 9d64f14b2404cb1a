#pragma once
// The host twins of the matrix instructions that generator/instruction_forms.cpp writes: all of
// them, whichever a kernel asks for.

#include "instruction/e4m3.cuh"
#include "instruction/thread.cuh"
#include "instruction/wgmma.cuh"

namespace heddle {

namespace host {

constexpr WarpOperation multiplication(Half) {
  return WarpOperation::kMultiplyHalf;
}
constexpr WarpOperation multiplication(BFloat16) {
  return WarpOperation::kMultiplyBFloat16;
}
constexpr WarpOperation multiplication(E4M3) {
  return WarpOperation::kMultiplyE4m3;
}

HEDDLE_TWIN void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                          WarpOperation operation) {
  WarpCall call;
  call.operation = operation;
  for (int i = 0; i < 4; ++i) call.a[i] = a[i], call.accumulator[i] = d[i];
  for (int i = 0; i < 2; ++i) call.b[i] = b[i];
  warp_call(call);
  for (int i = 0; i < 4; ++i) d[i] = call.accumulator[i];
}

template <int kAccumulators, class Element>
HEDDLE_TWIN MatrixProduct product_of(float (&d)[kAccumulators], MatrixDescriptor b, Element tag) {
  MatrixProduct product{};
  product.element = multiplication(tag);
  product.columns = 2 * kAccumulators;
  product.accumulators = d;
  product.b_descriptor = b.bits;
  return product;
}
HEDDLE_TWIN void issue(const MatrixProduct& product) {
  WarpCall call;
  call.operation = WarpOperation::kProduct;
  call.product = &product;
  warp_call(call);
}

template <Major kMajorA, Major kMajorB, bool kAdds, int kAccumulators, class Element>
HEDDLE_TWIN void issue(float (&d)[kAccumulators], MatrixDescriptor a, MatrixDescriptor b,
                       Element tag) {
  MatrixProduct product = product_of(d, b, tag);
  product.a_descriptor = a.bits;
  product.a_transposed = kMajorA == Major::kMn;
  product.b_transposed = kMajorB == Major::kMn;
  product.adds = kAdds;
  issue(product);
}
template <Major kMajorB, bool kAdds, int kAccumulators, class Element>
HEDDLE_TWIN void issue(float (&d)[kAccumulators], const unsigned (&a)[4], MatrixDescriptor b,
                       Element tag) {
  MatrixProduct product = product_of(d, b, tag);
  product.a = a;
  product.b_transposed = kMajorB == Major::kMn;
  product.adds = kAdds;
  issue(product);
}

}  // namespace host

HEDDLE_TWIN void mma_m16n8k16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                              BFloat16 tag) {
  host::multiply(d, a, b, host::multiplication(tag));
}
HEDDLE_TWIN void mma_m16n8k16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                              Half tag) {
  host::multiply(d, a, b, host::multiplication(tag));
}
HEDDLE_TWIN void mma_m16n8k32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                              E4M3 tag) {
  host::multiply(d, a, b, host::multiplication(tag));
}

template <Major kMajorA, Major kMajorB, int kAccumulators, class Element>
HEDDLE_TWIN void wgmma_set(float (&d)[kAccumulators], MatrixDescriptor a, MatrixDescriptor b,
                           Element tag) {
  host::issue<kMajorA, kMajorB, false>(d, a, b, tag);
}
template <Major kMajorA, Major kMajorB, int kAccumulators, class Element>
HEDDLE_TWIN void wgmma_add(float (&d)[kAccumulators], MatrixDescriptor a, MatrixDescriptor b,
                           Element tag) {
  host::issue<kMajorA, kMajorB, true>(d, a, b, tag);
}
template <Major kMajorB, int kAccumulators, class Element>
HEDDLE_TWIN void wgmma_set(float (&d)[kAccumulators], const unsigned (&a)[4], MatrixDescriptor b,
                           Element tag) {
  host::issue<kMajorB, false>(d, a, b, tag);
}
template <Major kMajorB, int kAccumulators, class Element>
HEDDLE_TWIN void wgmma_add(float (&d)[kAccumulators], const unsigned (&a)[4], MatrixDescriptor b,
                           Element tag) {
  host::issue<kMajorB, true>(d, a, b, tag);
}

}  // namespace heddle
