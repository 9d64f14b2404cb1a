// Transaction barriers and words that blocks share.
#include "arguments.cuh"
#include "instruction/atomic.cuh"
#include "instruction/bulk_copy.cuh"
#include "instruction/fence.cuh"
#include "instruction/thread.cuh"

#define KERNEL(name) \
  extern "C" __global__ void name(const __grid_constant__ KernelArguments arguments)

inline int* output(const KernelArguments& arguments) {
  return static_cast<int*>(arguments.pointers[1]);
}

/// One thread walks through phases: after each step, what both parities answer.
KERNEL(phases) {
  if (heddle::thread_index() != 0) return;
  auto& barrier = *reinterpret_cast<heddle::Barrier*>(heddle::shared_memory());
  unsigned char* tile = heddle::shared_memory() + 128;
  int* out = output(arguments);
  int count = 0;
  const auto note = [&] {
    out[count++] = heddle::test_wait(barrier, 0) + 2 * heddle::test_wait(barrier, 1);
  };
  heddle::init(barrier, 2);
  heddle::fence_barrier_init();
  note();
  heddle::arrive(barrier);
  note();
  heddle::arrive(barrier);
  note();
  heddle::expect_tx(barrier, 64);
  heddle::arrive(barrier);
  heddle::arrive(barrier);
  note();
  heddle::load_bytes(tile, arguments.pointers[0], 64, barrier);
  heddle::wait(barrier, 1);
  note();
  heddle::arrive_expect_tx(barrier, 128);
  heddle::load_bytes(tile, arguments.pointers[0], 128, barrier);
  heddle::arrive(barrier);
  heddle::wait(barrier, 0);
  note();
  while (!heddle::try_wait(barrier, 0)) {
  }
  out[count++] = tile[77];
  heddle::invalidate(barrier);
}

/// 64 threads pass 16 values round: everybody waits for each phase.
KERNEL(turns) {
  auto& full = *reinterpret_cast<heddle::Barrier*>(heddle::shared_memory());
  auto& empty = *reinterpret_cast<heddle::Barrier*>(heddle::shared_memory() + 8);
  auto* word = reinterpret_cast<int*>(heddle::shared_memory() + 16);
  if (heddle::thread_index() == 0) {
    heddle::init(full, 32);
    heddle::init(empty, 32);
    heddle::fence_barrier_init();
  }
  heddle::sync_block();
  for (unsigned turn = 0; turn < 16; ++turn) {
    if (heddle::warp() == 0) {
      heddle::wait(empty, turn % 2 ^ 1);
      word[heddle::lane()] = static_cast<const int*>(arguments.pointers[0])[turn] + heddle::lane();
      heddle::arrive(full);
    } else {
      heddle::wait(full, turn % 2);
      output(arguments)[32 * turn + heddle::lane()] = word[heddle::lane() ^ 1];
      heddle::arrive(empty);
    }
  }
}

/// Words: a sum, an exchange, a release, a count in order. 64 threads.
KERNEL(atomics) {
  int* words = output(arguments);
  const int thread = heddle::thread_index();
  heddle::atomic_add(words, static_cast<const int*>(arguments.pointers[0])[thread]);
  heddle::atomic_add(reinterpret_cast<unsigned*>(words) + 1, 3u);
  heddle::atomic_increment(reinterpret_cast<unsigned*>(words) + 7, 49u);
  if (thread == 0) {
    words[4] = heddle::atomic_exchange(words + 2, 7);
    words[5] = heddle::atomic_add_ordered(words + 2, 5);
    heddle::store_release(words + 3, 11);
  }
  if (thread == 32) {
    while (heddle::load_acquire(words + 3) != 11) {
    }
    words[6] = words[4] + words[5];
    heddle::fence_block();
    heddle::fence_device();
  }
}
