// Bytes on their way between global memory, shared memory and registers.
#include "arguments.cuh"
#include "instruction/bulk_copy.cuh"
#include "instruction/fence.cuh"
#include "instruction/ldmatrix.cuh"
#include "instruction/memory.cuh"
#include "instruction/stmatrix.cuh"
#include "instruction/thread.cuh"

#define KERNEL(name) \
  extern "C" __global__ void name(const __grid_constant__ KernelArguments arguments)

inline const unsigned char* input(const KernelArguments& arguments) {
  return static_cast<const unsigned char*>(arguments.pointers[0]);
}
inline unsigned char* output(const KernelArguments& arguments) {
  return static_cast<unsigned char*>(arguments.pointers[1]);
}

template <int kBytes>
inline void move(const KernelArguments& arguments) {
  const int at = kBytes * heddle::thread_index();
  unsigned char* shared = heddle::shared_memory();
  heddle::store<kBytes>(shared + at, heddle::load<kBytes>(input(arguments) + at));
  heddle::sync_block();
  const int other = kBytes * (heddle::thread_index() ^ 5);
  const auto value = heddle::load_or_zero<kBytes>(shared + other, heddle::thread_index() % 3 != 0);
  if constexpr (kBytes == 16) {
    const bool is_odd = heddle::thread_index() % 2 == 1;
    if (!is_odd) heddle::store_global(output(arguments) + at, value);
    heddle::store_global_if(is_odd, output(arguments) + at, value);
    heddle::store_global_if(false, output(arguments) + at, heddle::load<16>(shared + at));
  } else {
    heddle::store<kBytes>(output(arguments) + at, value);
  }
}
KERNEL(move2) {
  move<2>(arguments);
}
KERNEL(move4) {
  move<4>(arguments);
}
KERNEL(move8) {
  move<8>(arguments);
}
KERNEL(move16) {
  move<16>(arguments);
}

/// 2048 bytes, 128 threads.
inline void copy_out(const KernelArguments& arguments) {
  heddle::copy_async_commit();
  heddle::copy_async_wait<0>();
  heddle::sync_block();
  const int at = 16 * heddle::thread_index();
  heddle::store<16>(output(arguments) + at, heddle::load<16>(heddle::shared_memory() + at));
}
KERNEL(copy4) {
  for (int i = 0; i < 4; ++i) {
    const int at = 4 * (128 * i + heddle::thread_index());
    heddle::copy_async<4>(heddle::shared_memory(), at, input(arguments) + at, (at / 4) % 5 != 0);
  }
  copy_out(arguments);
}
KERNEL(copy8) {
  for (int i = 0; i < 2; ++i) {
    const int at = 8 * (128 * i + heddle::thread_index());
    heddle::copy_async<8>(heddle::shared_memory(), at, input(arguments) + at, (at / 8) % 3 != 0);
  }
  copy_out(arguments);
}
KERNEL(copy16) {
  const int at = 16 * heddle::thread_index();
  heddle::copy_async<16>(heddle::shared_memory(), at, input(arguments) + (at ^ 64));
  copy_out(arguments);
}
KERNEL(copy_part) {
  const int at = 16 * heddle::thread_index();
  heddle::copy_async_part(heddle::shared_memory() + at, input(arguments) + at,
                          heddle::thread_index() % 17);
  copy_out(arguments);
}

/// One warp; the matrices are 1024 bytes, four of 8 x 16 bytes used, rows in a mixed order.
template <bool kTransposed>
inline void load_matrices(const KernelArguments& arguments) {
  unsigned char* shared = heddle::shared_memory();
  const int lane = heddle::lane();
  for (int i = 0; i < 2; ++i) {
    const int at = 16 * (lane + 32 * i);
    heddle::store<16>(shared + at, heddle::load<16>(input(arguments) + at));
  }
  heddle::sync_warp();
  unsigned fragment[4], pair[2][2];
  const unsigned char* row = shared + 16 * ((lane * 5) % 32);
  if constexpr (kTransposed) {
    heddle::load_matrix_x4_transposed(fragment, row, 0);
    heddle::load_matrix_x4_transposed(pair, row, 512);
  } else {
    heddle::load_matrix_x4(fragment, row, 0);
    heddle::load_matrix_x4(pair, row, 512);
  }
  auto* out = reinterpret_cast<unsigned*>(output(arguments)) + 8 * lane;
  for (int i = 0; i < 4; ++i) out[i] = fragment[i], out[4 + i] = pair[i / 2][i % 2];
}
KERNEL(ldmatrix) {
  load_matrices<false>(arguments);
}
KERNEL(ldmatrix_transposed) {
  load_matrices<true>(arguments);
}

template <bool kTransposed>
inline void store_matrices(const KernelArguments& arguments) {
  unsigned char* shared = heddle::shared_memory();
  const int lane = heddle::lane();
  unsigned fragment[4];
  for (int i = 0; i < 4; ++i) {
    fragment[i] = reinterpret_cast<const unsigned*>(input(arguments))[4 * lane + i];
  }
  unsigned char* row = shared + 16 * ((lane * 11) % 32) - 64;
  if constexpr (kTransposed) {
    heddle::store_matrix_x4_transposed(row, 64, fragment);
  } else {
    heddle::store_matrix_x4(row, 64, fragment);
  }
  heddle::sync_warp();
  heddle::store<16>(output(arguments) + 16 * lane, heddle::load<16>(shared + 16 * lane));
}
KERNEL(stmatrix) {
  store_matrices<false>(arguments);
}
KERNEL(stmatrix_transposed) {
  store_matrices<true>(arguments);
}

/// 1024 bytes in and out again, 32 threads.
KERNEL(bulk) {
  unsigned char* shared = heddle::shared_memory();
  auto& barrier = *reinterpret_cast<heddle::Barrier*>(shared + 1024);
  if (heddle::thread_index() == 0) {
    heddle::init(barrier, 1);
    heddle::fence_barrier_init();
    heddle::arrive_expect_tx(barrier, 1024);
    heddle::load_bytes(shared, input(arguments) + 256, 768, barrier);
    heddle::load_bytes(shared + 768, input(arguments), 256, barrier);
  }
  heddle::sync_block();
  heddle::wait(barrier, 0);
  auto* words = reinterpret_cast<unsigned*>(shared);
  for (int i = heddle::thread_index(); i < 256; i += 32) words[i] += 1;
  heddle::fence_async_shared();
  heddle::sync_block();
  if (heddle::thread_index() == 0) {
    heddle::store_bytes(output(arguments), shared + 512, 512);
    heddle::store_commit();
    heddle::store_bytes(output(arguments) + 512, shared, 512);
    heddle::store_commit();
    heddle::store_wait_read<1>();
    heddle::store_wait<0>();
  }
}
