// wgmma on operands whose depth runs over rows of shared memory (16-bit elements).
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

constexpr int kOperandBytes = 8192;
constexpr int kSteps = 2;

/// d = a b over two steps: tiles of 32 rows (the depth), 64 columns.
template <Major kMajorA, Swizzle kSwizzle>
inline void mn_major(const KernelArguments& arguments) {
  unsigned char* shared = heddle::shared_memory();
  for (int i = 16 * heddle::thread_index(); i < 2 * kOperandBytes; i += 2048) {
    heddle::store<16>(
        shared + i, heddle::load<16>(static_cast<const unsigned char*>(arguments.pointers[0]) + i));
  }
  heddle::fence_async_shared();
  heddle::sync_block();
  constexpr SwizzledTile kTile{32, kSwizzle};
  constexpr SwizzledTile kTileA{kMajorA == Major::kK ? 64 : 32,
                                kMajorA == Major::kK ? Swizzle::k128 : kSwizzle};
  const auto a = heddle::matrix_descriptor(
      shared, kMajorA == Major::kK ? k_major_layout(kTileA) : mn_major_layout(kTileA));
  const auto b = heddle::matrix_descriptor(shared + kOperandBytes, mn_major_layout(kTile));
  float d[32];
  heddle::wgmma_fence();
  heddle::wgmma_set<kMajorA, Major::kMn>(d, a, b, Element{});
  for (int step = 1; step < kSteps; ++step) {
    const int bytes =
        kMajorA == Major::kK ? k_major_step_bytes(kTileA, step) : mn_major_step_bytes(kTileA, step);
    heddle::wgmma_add<kMajorA, Major::kMn>(d, advance(a, bytes),
                                           advance(b, mn_major_step_bytes(kTile, step)), Element{});
  }
  heddle::wgmma_commit();
  heddle::wgmma_wait<0>(d);
  auto* out = static_cast<unsigned*>(arguments.pointers[1]) + 32 * heddle::thread_index();
  for (int i = 0; i < 32; ++i) out[i] = __float_as_uint(d[i]);
}
KERNEL(b_mn128) {
  mn_major<Major::kK, Swizzle::k128>(arguments);
}
KERNEL(b_mn64) {
  mn_major<Major::kK, Swizzle::k64>(arguments);
}
KERNEL(b_mn32) {
  mn_major<Major::kK, Swizzle::k32>(arguments);
}
KERNEL(both_mn128) {
  mn_major<Major::kMn, Swizzle::k128>(arguments);
}
KERNEL(both_mn64) {
  mn_major<Major::kMn, Swizzle::k64>(arguments);
}
