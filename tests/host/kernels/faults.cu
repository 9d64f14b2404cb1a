// One thing wrong in each kernel; the line that is to blame says WRONG.
#include "arguments.cuh"
#include "instruction/atomic.cuh"
#include "instruction/cp_async.cuh"
#include "instruction/elect.cuh"
#include "instruction/fence.cuh"
#include "instruction/ldmatrix.cuh"
#include "instruction/memory.cuh"
#include "instruction/named_barrier.cuh"
#include "instruction/setmaxnreg.cuh"
#include "instruction/sleep.cuh"
#include "instruction/thread.cuh"
#include "instruction/tma.cuh"

#define KERNEL(name) \
  extern "C" __global__ void name(const __grid_constant__ KernelArguments arguments)

using heddle::Barrier;

struct Shared {
  alignas(128) int words[1024];
  Barrier barrier, other;
};

inline Shared& shared() {
  return *reinterpret_cast<Shared*>(heddle::shared_memory());
}
inline const int* input(const KernelArguments& arguments) {
  return static_cast<const int*>(arguments.pointers[0]);
}
inline int* output(const KernelArguments& arguments) {
  return static_cast<int*>(arguments.pointers[1]);
}
inline void start_barriers(int arrivals) {
  if (heddle::thread_index() == 0) {
    heddle::init(shared().barrier, arrivals);
    heddle::init(shared().other, arrivals);
    heddle::fence_barrier_init();
  }
  heddle::sync_block();
}

KERNEL(right) {
  const int thread = heddle::thread_index();
  shared().words[thread] = input(arguments)[thread];
  heddle::sync_block();
  const int at = 64 * heddle::block_index() + thread;
  output(arguments)[at] = shared().words[thread ^ 33];
}

/// Shared memory goes from hand to hand: TMA, ordinary writes, a store, TMA again. All in order.
KERNEL(handed_on) {
  start_barriers(1);
  const int thread = heddle::thread_index();
  for (unsigned round = 0; round < 4; ++round) {
    if (thread == 0) {
      heddle::arrive_expect_tx(shared().barrier, 256);
      heddle::load_bytes(shared().words, input(arguments), 256, shared().barrier);
    }
    heddle::wait(shared().barrier, round % 2);
    shared().words[thread] += static_cast<int>(round);
    heddle::fence_async_shared();
    heddle::sync_block();
    if (thread == 0) {
      heddle::store_bytes(output(arguments) + 64 * heddle::block_index(), shared().words, 256);
      heddle::store_commit();
      heddle::store_wait<0>();
    }
  }
}
KERNEL(past_the_end) {
  const int at = arguments.numbers[0] + heddle::thread_index();
  output(arguments)[heddle::thread_index()] = input(arguments)[at];  // WRONG
}
KERNEL(past_shared_memory) {
  unsigned char* end = heddle::shared_memory() + arguments.numbers[1];
  *reinterpret_cast<int*>(end - 2) = 1;  // WRONG
}
struct Triple {
  int first, second, third;
};
KERNEL(struct_past_the_end) {
  const auto* triples = reinterpret_cast<const Triple*>(input(arguments));
  const int thread = heddle::thread_index();
  const Triple triple = triples[thread];  // WRONG
  output(arguments)[64 * heddle::block_index() + thread] = triple.first + triple.third;
}
KERNEL(past_an_array) {
  const int registers[4] = {1, 2, 3, 4};
  const int at = 64 * heddle::block_index() + heddle::thread_index();
  output(arguments)[at] = registers[arguments.numbers[0] / 4];  // WRONG
}
KERNEL(divided_by_zero) {
  const int thread = heddle::thread_index();
  output(arguments)[64 * heddle::block_index() + thread] = 7 / (thread - 3);  // WRONG
}
KERNEL(write_to_input) {
  static_cast<int*>(arguments.pointers[0])[heddle::thread_index()] = 1;  // WRONG
}
KERNEL(misaligned) {
  const auto* bytes = static_cast<const char*>(arguments.pointers[0]) + 4;
  const auto value = heddle::load<8>(bytes + 8 * heddle::thread_index());  // WRONG
  output(arguments)[heddle::thread_index()] = static_cast<int>(value.value[0]);
}
KERNEL(shared_race) {
  shared().words[heddle::thread_index()] = 1;
  heddle::sync_warp();
  output(arguments)[heddle::thread_index()] = shared().words[heddle::thread_index() ^ 32];  // WRONG
}
KERNEL(block_race) {
  output(arguments)[heddle::thread_index()] = heddle::block_index();  // WRONG
}
KERNEL(diverged) {
  if (heddle::lane() < 16) heddle::warp_any(true);  // WRONG
}
KERNEL(diverged_barrier) {
  if (heddle::lane() == 3) {
    heddle::sync_warp();
  } else {
    heddle::sync_block();  // WRONG
  }
}
KERNEL(read_too_early) {
  const int thread = heddle::thread_index();
  heddle::copy_async<4>(&shared().words[thread], 0, input(arguments) + thread);
  heddle::copy_async_commit();
  heddle::copy_async_wait<1>();
  output(arguments)[thread] = shared().words[thread];  // WRONG
}
KERNEL(team_too_small) {
  heddle::sync_team(1, heddle::warp() == 0 ? 64 : 96);  // WRONG
}
KERNEL(missing_arrival) {
  start_barriers(2);
  if (heddle::thread_index() == 0) heddle::arrive(shared().barrier);
  heddle::wait(shared().barrier, 0);  // WRONG
}
KERNEL(one_arrival_too_many) {
  start_barriers(1);
  if (heddle::thread_index() == 0) {
    heddle::expect_tx(shared().barrier, 16);
    heddle::arrive(shared().barrier);
    heddle::arrive(shared().barrier);  // WRONG
    heddle::load_bytes(shared().words, input(arguments), 16, shared().barrier);
  }
  heddle::wait(shared().barrier, 0);
}
KERNEL(overrun) {
  start_barriers(1);
  if (heddle::thread_index() == 0) {
    heddle::arrive(shared().barrier);
    heddle::arrive(shared().barrier);
  }
  heddle::sync_block();
  if (heddle::thread_index() == 32) heddle::wait(shared().barrier, 0);  // WRONG
}
KERNEL(overrun_asleep) {
  start_barriers(1);
  if (heddle::thread_index() == 32) heddle::wait(shared().barrier, 0);  // WRONG
  if (heddle::thread_index() == 0) {
    for (int i = 0; i < 20; ++i) heddle::sleep_nanoseconds(100);
    heddle::arrive(shared().barrier);
    heddle::arrive(shared().barrier);
  }
}
KERNEL(no_barrier_there) {
  heddle::arrive(shared().barrier);  // WRONG
}
KERNEL(barrier_not_shown) {
  if (heddle::thread_index() == 0) heddle::init(shared().barrier, 32);
  for (int i = 0; i < 20; ++i) heddle::sleep_nanoseconds(100);
  if (heddle::warp() == 1) heddle::arrive(shared().barrier);  // WRONG
}
KERNEL(barrier_bytes_read) {
  start_barriers(1);
  output(arguments)[heddle::thread_index()] = static_cast<int>(shared().barrier.state);  // WRONG
}
KERNEL(copy_over_readers) {
  start_barriers(1);
  const int thread = heddle::thread_index();
  shared().words[thread] = 1;
  heddle::fence_async_shared();
  heddle::sync_block();
  output(arguments)[thread] = shared().words[thread ^ 1];
  if (thread == 0) {
    heddle::arrive_expect_tx(shared().barrier, 256);
    heddle::load_bytes(shared().words, input(arguments), 256, shared().barrier);  // WRONG
  }
  heddle::wait(shared().barrier, 0);
}
KERNEL(copy_over_writes) {
  start_barriers(1);
  const int thread = heddle::thread_index();
  shared().words[thread] = 1;
  heddle::sync_block();
  if (thread == 0) {
    heddle::arrive_expect_tx(shared().barrier, 256);
    heddle::load_bytes(shared().words, input(arguments), 256, shared().barrier);  // WRONG
  }
  heddle::wait(shared().barrier, 0);
}
KERNEL(wrong_barrier) {
  start_barriers(1);
  const int thread = heddle::thread_index();
  if (thread == 0) {
    heddle::arrive_expect_tx(shared().barrier, 256);
    heddle::load_bytes(shared().words, input(arguments), 256, shared().barrier);
    heddle::arrive(shared().other);
  }
  heddle::wait(shared().other, 0);
  output(arguments)[thread] = shared().words[thread];  // WRONG
  heddle::wait(shared().barrier, 0);
}
KERNEL(never_waited) {
  start_barriers(1);
  if (heddle::thread_index() == 0) {
    heddle::arrive_expect_tx(shared().barrier, 256);
    heddle::load_bytes(shared().words, input(arguments), 256, shared().barrier);  // WRONG
  }
}
KERNEL(copy_of_odd_size) {
  start_barriers(1);
  if (heddle::thread_index() == 0) {
    heddle::arrive_expect_tx(shared().barrier, 20);
    heddle::load_bytes(shared().words, input(arguments), 20, shared().barrier);  // WRONG
  }
  heddle::wait(shared().barrier, 0);
}
KERNEL(written_while_stored) {
  const int thread = heddle::thread_index();
  shared().words[thread] = 1;
  heddle::fence_async_shared();
  heddle::sync_block();
  if (thread == 0) {
    heddle::store_bytes(output(arguments), shared().words, 256);
    heddle::store_commit();
  }
  heddle::sync_block();
  if (thread == 40) shared().words[thread] = 2;  // WRONG
  if (thread == 0) heddle::store_wait<0>();
}
KERNEL(poll_for_ever) {
  start_barriers(1);
  if (heddle::thread_index() == 5) {
    while (!heddle::try_wait(shared().barrier, 0)) {  // WRONG
    }
  }
}
KERNEL(register_increase_alone) {
  heddle::increase_registers<64>();  // WRONG
}
KERNEL(plain_counter) {
  if (heddle::thread_index() == 0) output(arguments)[0] += 1;  // WRONG
}
KERNEL(counted) {
  if (heddle::thread_index() == 0) heddle::atomic_add(output(arguments), 1);
}
