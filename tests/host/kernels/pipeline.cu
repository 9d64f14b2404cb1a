// O = (Q K^T) V without a softmax, as fast kernels are built: a producer fills rings by TMA, two
// warpgroups multiply, the next scores overlap this block's output, O leaves through shared memory.
// On small integers every sum is exact. Each entry but the first has one thing wrong.
#include "instruction_forms.cuh"

#include "arguments.cuh"
#include "instruction/elect.cuh"
#include "instruction/fence.cuh"
#include "instruction/named_barrier.cuh"
#include "instruction/setmaxnreg.cuh"
#include "instruction/stmatrix.cuh"
#include "instruction/thread.cuh"
#include "instruction/tma.cuh"

using heddle::Barrier;
using Element = heddle::BFloat16;
using heddle::Major;

constexpr int kHeadDim = 64, kTileM = 128, kTileN = 64, kStages = 2, kConsumers = 2;
constexpr heddle::SwizzledTile kQueryTile{kTileM, heddle::Swizzle::k128};
constexpr heddle::SwizzledTile kKeyTile{kTileN, heddle::Swizzle::k128};
constexpr int kQueryBytes = kQueryTile.bytes(2 * kHeadDim),
              kKeyBytes = kKeyTile.bytes(2 * kHeadDim);

enum Maps { kQuery, kKey, kValue, kOutput };

enum class Bug {
  kNone,
  kNoInitFence,
  kNoWaitForKeys,
  kTooFewBytes,
  kTooManyBytes,
  kEarlyRelease,
  kNoWaitForRoom,
  kWrongParity,
  kNoProductFence,
  kUnnamedOperand,
  kScoresBeforeWait,
  kOperandBeforeWait,
  kUnnamedResult,
  kNoProxyFence,
  kNoTeamBarrier,
  kNoStoreWait,
  kTooManyRegisters,
  kOneWarpAhead,
  kWrongStride,
  kNoQueryWait,
};

struct Shared {
  alignas(1024) unsigned char query[kQueryBytes];  // later O, each warpgroup in its own rows
  unsigned char key[kStages][kKeyBytes];
  unsigned char value[kStages][kKeyBytes];
  Barrier query_full, key_full[kStages], key_empty[kStages], value_full[kStages],
      value_empty[kStages];
};

struct Ring {
  int stage = 0;
  unsigned parity = 0;
  void next() {
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
};

template <Bug kBug>
inline void produce(const KernelArguments& arguments, Shared& shared) {
  const int row = kTileM * heddle::block_index();
  const int blocks = arguments.numbers[0];
  heddle::arrive_expect_tx(shared.query_full, kQueryBytes);
  heddle::load_tile(shared.query, arguments.maps[kQuery], shared.query_full, {0, row, 0});
  Ring ring;
  for (int block = 0; block < blocks; ++block, ring.next()) {
    const int stage = ring.stage;
    const unsigned empty = ring.parity ^ (kBug == Bug::kWrongParity ? 0 : 1);
    if (kBug != Bug::kNoWaitForRoom) heddle::wait(shared.key_empty[stage], empty);
    const int bytes = kBug == Bug::kTooFewBytes    ? kKeyBytes / 2
                      : kBug == Bug::kTooManyBytes ? 2 * kKeyBytes
                                                   : kKeyBytes;
    heddle::arrive_expect_tx(shared.key_full[stage], bytes);
    heddle::load_tile(shared.key[stage], arguments.maps[kKey], shared.key_full[stage],
                      {0, kTileN * block, 0});
    heddle::wait(shared.value_empty[stage], ring.parity ^ 1);
    heddle::arrive_expect_tx(shared.value_full[stage], kKeyBytes);
    heddle::load_tile(shared.value[stage], arguments.maps[kValue], shared.value_full[stage],
                      {0, kTileN * block, 0}, heddle::CachePolicy::kEvictLast);
  }
}

template <Bug kBug>
inline void scores(float (&s)[kTileN / 2], const Shared& shared, int team, int stage) {
  heddle::MatrixLayout layout = k_major_layout(kKeyTile);
  if (kBug == Bug::kWrongStride) layout.stride_bytes = 512;
  const auto a = heddle::matrix_descriptor(shared.query + 8192 * team, k_major_layout(kQueryTile));
  const auto b = heddle::matrix_descriptor(shared.key[stage], layout);
  heddle::wgmma_set<Major::kK, Major::kK>(s, a, b, Element{});
#pragma unroll
  for (int step = 1; step < kHeadDim / 16; ++step) {
    heddle::wgmma_add<Major::kK, Major::kK>(s, advance(a, k_major_step_bytes(kQueryTile, step)),
                                            advance(b, k_major_step_bytes(kKeyTile, step)),
                                            Element{});
  }
  heddle::wgmma_commit();
}

inline void outputs(float (&o)[kHeadDim / 2], const unsigned (&p)[kTileN / 16][4],
                    const Shared& shared, int stage) {
  const auto b = heddle::matrix_descriptor(shared.value[stage], mn_major_layout(kKeyTile));
#pragma unroll
  for (int step = 0; step < kTileN / 16; ++step) {
    heddle::wgmma_add<Major::kMn>(o, p[step], advance(b, mn_major_step_bytes(kKeyTile, step)),
                                  Element{});
  }
  heddle::wgmma_commit();
}

inline void round(unsigned (&p)[kTileN / 16][4], const float (&s)[kTileN / 2]) {
#pragma unroll
  for (int i = 0; i < kTileN / 4; ++i) {
    p[i / 4][i % 4] = heddle::pack(s[2 * i], s[2 * i + 1], Element{});
  }
}

/// Each warp of a consumer says so once it needs a stage no more.
inline void release(Barrier& barrier) {
  if (heddle::lane() == 0) heddle::arrive(barrier);
}

template <Bug kBug>
inline void store(const KernelArguments& arguments, Shared& shared, const float (&o)[kHeadDim / 2],
                  int team) {
  unsigned char* tile = shared.query + 8192 * team;
  const int row = 16 * (heddle::warp() % 4) + heddle::lane() % 16;
#pragma unroll
  for (int step = 0; step < kHeadDim / 16; ++step) {
    unsigned packed[4];
    for (int i = 0; i < 4; ++i) {
      packed[i] = heddle::pack(o[8 * step + 2 * i], o[8 * step + 2 * i + 1], Element{});
    }
    const int column = 32 * step + 16 * (heddle::lane() / 16);
    heddle::store_matrix_x4(
        tile + heddle::SwizzledTile{64, heddle::Swizzle::k128}.offset(row, column), 0, packed);
  }
  if (kBug != Bug::kNoProxyFence) heddle::fence_async_shared();
  if (kBug != Bug::kNoTeamBarrier) heddle::sync_team(1 + team, 128);
  if (heddle::warp() % 4 == 0 && heddle::elect_one()) {
    heddle::store_tile(arguments.maps[kOutput], {0, kTileM * heddle::block_index() + 64 * team, 0},
                       tile);
    heddle::store_commit();
    if (kBug != Bug::kNoStoreWait) heddle::store_wait<0>();
  }
}

template <Bug kBug>
inline void consume(const KernelArguments& arguments, Shared& shared, int team) {
  float s[kTileN / 2], o[kHeadDim / 2] = {};
  unsigned p[kTileN / 16][4];
  const int blocks = arguments.numbers[0];
  Ring keys, values;
  if (kBug != Bug::kNoQueryWait) heddle::wait(shared.query_full, 0);
  heddle::wait(shared.key_full[0], 0);
  heddle::wgmma_fence();
  scores<kBug>(s, shared, team, 0);
  heddle::wgmma_wait<0>(s);
  release(shared.key_empty[0]);
  keys.next();
  round(p, s);
  for (int block = 1; block < blocks; ++block, keys.next(), values.next()) {
    if (kBug != Bug::kNoWaitForKeys) heddle::wait(shared.key_full[keys.stage], keys.parity);
    if (kBug != Bug::kNoProductFence) heddle::wgmma_fence();
    scores<kBug>(s, shared, team, keys.stage);
    heddle::wait(shared.value_full[values.stage], values.parity);
    if (kBug == Bug::kUnnamedOperand) {
      heddle::wgmma_fence(o);
    } else {
      heddle::wgmma_fence(o, p);
    }
    outputs(o, p, shared, values.stage);
    if (kBug == Bug::kScoresBeforeWait) s[3] *= 0.5f;
    if (kBug == Bug::kUnnamedResult) {
      heddle::wgmma_wait<1>();
    } else {
      heddle::wgmma_wait<1>(s);
    }
    release(shared.key_empty[keys.stage]);
    if (kBug == Bug::kEarlyRelease) release(shared.value_empty[values.stage]);
    if (kBug == Bug::kOperandBeforeWait) round(p, s);
    heddle::wgmma_wait<0>(o, p);
    if (kBug != Bug::kEarlyRelease) release(shared.value_empty[values.stage]);
    round(p, s);
  }
  heddle::wait(shared.value_full[values.stage], values.parity);
  heddle::wgmma_fence(o, p);
  outputs(o, p, shared, values.stage);
  heddle::wgmma_wait<0>(o, p);
  release(shared.value_empty[values.stage]);
  store<kBug>(arguments, shared, o, team);
}

template <Bug kBug>
inline void start(Shared& shared) {
  heddle::init(shared.query_full, 1);
  for (int i = 0; i < kStages; ++i) {
    heddle::init(shared.key_full[i], 1);
    heddle::init(shared.value_full[i], 1);
    heddle::init(shared.key_empty[i], 4 * kConsumers);
    heddle::init(shared.value_empty[i], 4 * kConsumers);
  }
  if (kBug != Bug::kNoInitFence) heddle::fence_barrier_init();
}

template <Bug kBug>
inline void attend(const KernelArguments& arguments) {
  Shared& shared = *reinterpret_cast<Shared*>(heddle::shared_memory());
  if (heddle::thread_index() == 0) start<kBug>(shared);
  heddle::sync_block();
  const int team = heddle::uniform(heddle::warp() / 4);
  if (team == kConsumers) {
    heddle::decrease_registers<24>();
    if (heddle::warp() % 4 == 0 && heddle::elect_one()) produce<kBug>(arguments, shared);
  } else {
    heddle::increase_registers<kBug == Bug::kTooManyRegisters ? 248 : 240>();
    if (kBug == Bug::kOneWarpAhead && heddle::warp() == 1) return;
    consume<kBug>(arguments, shared, team);
  }
}

#define KERNEL(name, bug)                                       \
  extern "C" __global__ void __launch_bounds__(384, 1)          \
      name(const __grid_constant__ KernelArguments arguments) { \
    attend<Bug::bug>(arguments);                                \
  }
KERNEL(pipeline, kNone)
KERNEL(no_init_fence, kNoInitFence)
KERNEL(no_wait_for_keys, kNoWaitForKeys)
KERNEL(too_few_bytes, kTooFewBytes)
KERNEL(too_many_bytes, kTooManyBytes)
KERNEL(early_release, kEarlyRelease)
KERNEL(no_wait_for_room, kNoWaitForRoom)
KERNEL(wrong_parity, kWrongParity)
KERNEL(no_product_fence, kNoProductFence)
KERNEL(unnamed_operand, kUnnamedOperand)
KERNEL(scores_before_wait, kScoresBeforeWait)
KERNEL(operand_before_wait, kOperandBeforeWait)
KERNEL(unnamed_result, kUnnamedResult)
KERNEL(no_proxy_fence, kNoProxyFence)
KERNEL(no_team_barrier, kNoTeamBarrier)
KERNEL(no_store_wait, kNoStoreWait)
KERNEL(too_many_registers, kTooManyRegisters)
KERNEL(one_warp_ahead, kOneWarpAhead)
KERNEL(wrong_stride, kWrongStride)
KERNEL(no_query_wait, kNoQueryWait)
