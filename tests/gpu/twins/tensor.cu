// Boxes of tensors. One warp: a box comes in, its bytes go out as they lie in shared memory; or the
// other way round.
#include "arguments.cuh"
#include "instruction/fence.cuh"
#include "instruction/memory.cuh"
#include "instruction/thread.cuh"
#include "instruction/tma.cuh"

constexpr int kMostBytes = 8192;

/// numbers[0] = bytes of the box; pointers[2] = the coordinates.
template <int kRank>
inline void load(const KernelArguments& arguments) {
  unsigned char* shared = heddle::shared_memory();
  auto& barrier = *reinterpret_cast<heddle::Barrier*>(shared + kMostBytes);
  int at[kRank];
  for (int i = 0; i < kRank; ++i) at[i] = static_cast<const int*>(arguments.pointers[2])[i];
  if (heddle::thread_index() == 0) {
    heddle::prefetch_tensor_map(arguments.maps[0]);
    heddle::init(barrier, 1);
    heddle::fence_barrier_init();
    heddle::arrive_expect_tx(barrier, arguments.numbers[0]);
    heddle::load_tile(shared, arguments.maps[0], barrier, at);
  }
  heddle::sync_block();
  heddle::wait(barrier, 0);
  if (heddle::thread_index() == 0) {
    heddle::arrive_expect_tx(barrier, arguments.numbers[0]);
    heddle::load_tile(shared, arguments.maps[0], barrier, at, heddle::CachePolicy::kEvictFirst);
  }
  heddle::wait(barrier, 1);
  for (int i = 16 * heddle::lane(); i < arguments.numbers[0]; i += 512) {
    heddle::store<16>(static_cast<unsigned char*>(arguments.pointers[1]) + i,
                      heddle::load<16>(shared + i));
  }
}

template <int kRank>
inline void store(const KernelArguments& arguments) {
  unsigned char* shared = heddle::shared_memory();
  int at[kRank];
  for (int i = 0; i < kRank; ++i) at[i] = static_cast<const int*>(arguments.pointers[2])[i];
  for (int i = 16 * heddle::lane(); i < arguments.numbers[0]; i += 512) {
    heddle::store<16>(
        shared + i, heddle::load<16>(static_cast<const unsigned char*>(arguments.pointers[0]) + i));
  }
  heddle::fence_async_shared();
  heddle::sync_warp();
  if (heddle::lane() == 0) {
    heddle::store_tile(arguments.maps[0], at, shared);
    heddle::store_commit();
    heddle::store_wait<0>();
  }
}

#define KERNEL(name, act)                                                              \
  extern "C" __global__ void name(const __grid_constant__ KernelArguments arguments) { \
    act(arguments);                                                                    \
  }
KERNEL(load2, load<2>)
KERNEL(load3, load<3>)
KERNEL(load4, load<4>)
KERNEL(load5, load<5>)
KERNEL(store2, store<2>)
KERNEL(store3, store<3>)
KERNEL(store4, store<4>)
KERNEL(store5, store<5>)
