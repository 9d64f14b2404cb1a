// What lanes and warps do together.
#include "arguments.cuh"
#include "instruction/elect.cuh"
#include "instruction/grid.cuh"
#include "instruction/named_barrier.cuh"
#include "instruction/setmaxnreg.cuh"
#include "instruction/sleep.cuh"

#define KERNEL(name) \
  extern "C" __global__ void name(const __grid_constant__ KernelArguments arguments)

inline const unsigned* input(const KernelArguments& arguments) {
  return static_cast<const unsigned*>(arguments.pointers[0]);
}
inline unsigned* output(const KernelArguments& arguments) {
  return static_cast<unsigned*>(arguments.pointers[1]);
}

// One word for each lane: bit 2 i of the result says any, bit 2 i + 1 all, of bits 4 i to 4 i + 3.
KERNEL(votes) {
  const unsigned word = input(arguments)[heddle::lane()];
  unsigned result = 0;
  for (int i = 0; i < 8; ++i) {
    const bool predicate = (word >> (4 * i) & 15u) != 0;
    result |= heddle::warp_any(predicate) ? 1u << (2 * i) : 0;
    result |= heddle::warp_all(predicate) ? 2u << (2 * i) : 0;
  }
  output(arguments)[heddle::lane()] = result;
}

// Two words for each lane.
KERNEL(shuffles) {
  const int lane = heddle::lane();
  const unsigned word = input(arguments)[lane];
  const auto number = static_cast<double>(static_cast<int>(input(arguments)[32 + lane]));
  unsigned* out = output(arguments) + 6 * lane;
  const int mask = arguments.numbers[0];
  out[0] = heddle::shuffle_xor(word, mask);
  out[1] = heddle::shuffle(word, mask);
  out[2] = heddle::shuffle(word, (lane * 7 + mask) % 32);
  out[3] = static_cast<unsigned>(static_cast<int>(heddle::shuffle_xor(number, mask) * 0.5));
  out[4] = __float_as_uint(heddle::shuffle_xor(__uint_as_float(word), mask));
  out[5] = __float_as_uint(heddle::shuffle(__uint_as_float(word), 31 - mask));
}

// How many lanes are elected, and whether they are the same twice; lane 0's value for all.
KERNEL(elected) {
  const bool first = heddle::elect_one();
  const bool again = heddle::elect_one();
  int count = first;
  for (int mask = 1; mask < 32; mask *= 2) {
    count += static_cast<int>(heddle::shuffle_xor(static_cast<unsigned>(count), mask));
  }
  unsigned* out = output(arguments) + 3 * heddle::lane();
  out[0] = static_cast<unsigned>(count);
  out[1] = first == again;
  out[2] =
      static_cast<unsigned>(heddle::uniform(static_cast<int>(input(arguments)[heddle::lane()])));
}

// 96 threads, one bit of each input word a round.
KERNEL(block_any) {
  const int thread = heddle::thread_index();
  unsigned result = 0;
  for (int i = 0; i < 32; ++i) {
    result |= heddle::sync_block_any((input(arguments)[thread] >> i & 1u) != 0) ? 1u << i : 0;
  }
  output(arguments)[thread] = result;
}

// Warp 0 writes, warps 1 and 2 read; they hand the buffer to and fro by two barriers.
KERNEL(teams) {
  auto* words = reinterpret_cast<unsigned*>(heddle::shared_memory());
  const int lane = heddle::lane();
  for (int round = 0; round < 4; ++round) {
    if (heddle::warp() == 0) {
      if (round > 0) heddle::sync_team(2, 96);
      words[lane] = input(arguments)[32 * round + lane];
      heddle::arrive_team(1, 96);
    } else {
      heddle::sync_team(1, 96);
      output(arguments)[64 * round + heddle::thread_index() - 32] = words[31 - lane];
      if (round < 3) heddle::arrive_team(2, 96);
    }
  }
}

static_assert(heddle::is_register_count(24) && heddle::is_register_count(256));
static_assert(!heddle::is_register_count(16) && !heddle::is_register_count(28) &&
              !heddle::is_register_count(264));

// Three warpgroups: registers move from the third to the others.
extern "C" __global__ void __launch_bounds__(384, 1)
    registers(const __grid_constant__ KernelArguments arguments) {
  const int thread = heddle::thread_index();
  if (heddle::warp() / 4 == 2) {
    heddle::sleep_nanoseconds(1000);
    heddle::decrease_registers<24>();
  } else {
    heddle::increase_registers<240>();
  }
  output(arguments)[thread] = input(arguments)[thread] + 1;
}

// Several blocks of 32: two words for each thread.
KERNEL(grid) {
  unsigned* out = output(arguments) + 2 * (32 * heddle::block_index() + heddle::thread_index());
  out[0] = static_cast<unsigned>(heddle::block_index());
  out[1] = static_cast<unsigned>(heddle::block_count());
}
