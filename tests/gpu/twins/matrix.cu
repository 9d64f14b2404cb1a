// Matrix products. "element.cuh" says of which elements.
#include "instruction_forms.cuh"

#include "arguments.cuh"
#include "element.cuh"
#include "instruction/fence.cuh"
#include "instruction/memory.cuh"
#include "instruction/thread.cuh"

#define KERNEL(name) \
  extern "C" __global__ void name(const __grid_constant__ KernelArguments arguments)

using heddle::Major;
using heddle::Swizzle;
using heddle::SwizzledTile;

inline unsigned* output(const KernelArguments& arguments) {
  return static_cast<unsigned*>(arguments.pointers[1]);
}

/// Unqualified: only the one that `tag` asks for exists.
template <class Tag>
inline void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], Tag tag) {
  if constexpr (sizeof(Tag) == 1) {
    mma_m16n8k32(d, a, b, tag);
  } else {
    mma_m16n8k16(d, a, b, tag);
  }
}

/// For each lane four registers of a, two of b, four of d; d comes out.
KERNEL(mma) {
  const int lane = heddle::lane();
  const unsigned* in = static_cast<const unsigned*>(arguments.pointers[0]) + 10 * lane;
  unsigned a[4], b[2];
  float d[4];
  for (int i = 0; i < 4; ++i) a[i] = in[i], d[i] = __uint_as_float(in[6 + i]);
  for (int i = 0; i < 2; ++i) b[i] = in[4 + i];
  multiply(d, a, b, Element{});
  for (int i = 0; i < 4; ++i) output(arguments)[4 * lane + i] = __float_as_uint(d[i]);
}

// One warpgroup. Shared memory begins as the input does: `a` in its first 8 KiB, `b` after it. The
// accumulators of each thread come out.
constexpr int kOperandBytes = 8192;
constexpr int kSteps = 2;

inline unsigned char* fill_shared(const KernelArguments& arguments) {
  unsigned char* shared = heddle::shared_memory();
  for (int i = 16 * heddle::thread_index(); i < 2 * kOperandBytes; i += 2048) {
    heddle::store<16>(
        shared + i, heddle::load<16>(static_cast<const unsigned char*>(arguments.pointers[0]) + i));
  }
  heddle::fence_async_shared();
  heddle::sync_block();
  return shared;
}

template <int kCount>
inline void put(const KernelArguments& arguments, const float (&d)[kCount]) {
  unsigned* out = output(arguments) + kCount * heddle::thread_index();
  for (int i = 0; i < kCount; ++i) out[i] = __float_as_uint(d[i]);
}

/// d = a b + d over two steps of the depth, both operands k-major in 64 rows.
template <Swizzle kSwizzle, int kCount>
inline void k_major(const KernelArguments& arguments) {
  unsigned char* shared = fill_shared(arguments);
  constexpr SwizzledTile kTile{64, kSwizzle};
  const auto a = heddle::matrix_descriptor(shared, k_major_layout(kTile));
  const auto b = heddle::matrix_descriptor(shared + kOperandBytes, k_major_layout(kTile));
  float d[kCount];
  heddle::wgmma_fence();
  heddle::wgmma_set<Major::kK, Major::kK>(d, a, b, Element{});
  for (int step = 1; step < kSteps; ++step) {
    const int bytes = k_major_step_bytes(kTile, step);
    heddle::wgmma_add<Major::kK, Major::kK>(d, advance(a, bytes), advance(b, bytes), Element{});
  }
  heddle::wgmma_commit();
  heddle::wgmma_wait<0>(d);
  put(arguments, d);
}
KERNEL(k_major128) {
  k_major<Swizzle::k128, 32>(arguments);
}
KERNEL(k_major64) {
  k_major<Swizzle::k64, 32>(arguments);
}
KERNEL(k_major32) {
  k_major<Swizzle::k32, 32>(arguments);
}
KERNEL(k_major_narrow) {
  k_major<Swizzle::k128, 4>(arguments);
}

/// Core matrices of eight rows of 16 bytes, one after the other: no swizzle.
KERNEL(plain) {
  unsigned char* shared = fill_shared(arguments);
  const heddle::MatrixLayout layout{128, 256, Swizzle::kNone, 0};
  const auto a = heddle::matrix_descriptor(shared, layout);
  const auto b = heddle::matrix_descriptor(shared + kOperandBytes, layout);
  float d[32];
  heddle::wgmma_fence();
  heddle::wgmma_set<Major::kK, Major::kK>(d, a, b, Element{});
  heddle::wgmma_commit();
  heddle::wgmma_wait<0>(d);
  put(arguments, d);
}

/// a from registers: the input's third part, four for each thread and step; d begins as the fourth.
KERNEL(from_registers) {
  unsigned char* shared = fill_shared(arguments);
  constexpr SwizzledTile kTile{64, Swizzle::k128};
  const unsigned* in = static_cast<const unsigned*>(arguments.pointers[0]) + 2 * kOperandBytes / 4;
  const int thread = heddle::thread_index();
  unsigned a[kSteps][4];
  float d[32];
  for (int i = 0; i < 4 * kSteps; ++i) a[i / 4][i % 4] = in[4 * kSteps * thread + i];
  for (int i = 0; i < 32; ++i) {
    d[i] = __uint_as_float(in[4 * kSteps * 128 + 32 * thread + i]);
  }
  const auto b = heddle::matrix_descriptor(shared + kOperandBytes, k_major_layout(kTile));
  heddle::wgmma_fence(d, a);
  for (int step = 0; step < kSteps; ++step) {
    heddle::wgmma_add<Major::kK>(d, a[step], advance(b, k_major_step_bytes(kTile, step)),
                                 Element{});
  }
  heddle::wgmma_commit();
  heddle::wgmma_wait<0>(d, a);
  put(arguments, d);
}
