// What a running thread asks of its block.
#include <atomic>

#include <fmt/format.h>

#include "runtime/host/block_run.hpp"

namespace heddle {

/// The functions behind the table that kernels call; each finds its block behind `engine`.
struct BlockCalls {
  static BlockRun& block(void* engine) { return *static_cast<BlockRun*>(engine); }

  static void access(void* engine, const void* address, long long bytes, int flags,
                     const void* where) {
    BlockRun& self = block(engine);
    self.on_access({address, bytes, (flags & host::kWrite) != 0, (flags & host::kAligned) != 0,
                    self.running_, where});
  }
  static void warp(void* engine, host::WarpCall& call, const void* where) {
    block(engine).on_warp_call(call, where);
  }
  static void copy_async(void* engine, const host::CopyAsync& copy, const void* where) {
    block(engine).on_copy(copy, where);
  }
  static void copy_async_commit(void* engine) { block(engine).current().copies.commit(); }
  static void copy_async_wait(void* engine, int pending) {
    BlockRun& self = block(engine);
    self.current().copies.wait(self.copy_context(), pending);
  }
  static void barrier(void* engine, host::BarrierCall& call, const void* where) {
    block(engine).on_barrier(call, where);
  }
  static void bulk_copy(void* engine, const host::BulkCopy& copy, const void* where) {
    block(engine).on_bulk_copy(copy, where);
  }
  static void bulk_commit(void* engine) {
    BlockRun& self = block(engine);
    self.bulk_copies_.commit(self.running_);
  }
  static void bulk_wait(void* engine, int pending, const void*) {
    BlockRun& self = block(engine);
    self.bulk_copies_.wait(self.running_, pending);
  }
  static void fence(void* engine, host::FenceKind kind) {
    BlockRun& self = block(engine);
    if (kind == host::FenceKind::kAsyncShared) {
      self.check_.clocks().fence(self.running_);
    } else {
      self.mbarriers_.fence_init(self.running_);
    }
  }
  static void atomic(void* engine, host::AtomicCall& call, const void* where) {
    block(engine).on_atomic(call, where);
  }
  static unsigned shared_address(void* engine, const void* pointer, const void* where) {
    return block(engine).on_shared_address(pointer, where);
  }
  static void yield(void* engine) { block(engine).on_yield(); }
};

const host::HostCalls& BlockRun::calls() {
  static constexpr host::HostCalls table{&BlockCalls::access,
                                         &BlockCalls::warp,
                                         &BlockCalls::copy_async,
                                         &BlockCalls::copy_async_commit,
                                         &BlockCalls::copy_async_wait,
                                         &BlockCalls::barrier,
                                         &BlockCalls::bulk_copy,
                                         &BlockCalls::bulk_commit,
                                         &BlockCalls::bulk_wait,
                                         &BlockCalls::fence,
                                         &BlockCalls::atomic,
                                         &BlockCalls::shared_address,
                                         &BlockCalls::yield};
  return table;
}

void BlockRun::on_access(const Access& access) {
  if (!check_.touch(access)) lose_lane();
}

void BlockRun::on_warp_call(host::WarpCall& call, const void* where) {
  Lane& self = current();
  self.call = &call;
  self.where = where;
  self.state = LaneState::kMeeting;
  self.fiber.suspend();
}

void BlockRun::on_copy(const host::CopyAsync& copy, const void* where) {
  if (!current().copies.start(copy_context(), copy, where)) lose_lane();
}

void BlockRun::on_barrier(host::BarrierCall& call, const void* where) {
  const bool poll = call.operation == host::BarrierOperation::kTest;
  current().where = where;
  const auto outcome = mbarriers_.call(call, running_, where);
  if (outcome == Mbarriers::Outcome::kLost) return lose_lane();
  if (outcome == Mbarriers::Outcome::kBlocked) {
    Lane& self = current();
    self.state = LaneState::kWaiting;
    self.fiber.suspend();
  } else if (poll && !call.result) {
    on_yield();
  } else {
    moved_ = true;
  }
}

void BlockRun::on_bulk_copy(const host::BulkCopy& copy, const void* where) {
  moved_ = true;
  if (!bulk_copies_.start(copy, running_, where)) lose_lane();
}

/// Counts round: 0, 1 ... last, 0. Returns the value before.
static unsigned fetch_increment(unsigned* word, unsigned last) {
  std::atomic_ref<unsigned> counter(*word);
  unsigned before = counter.load();
  while (!counter.compare_exchange_weak(before, before >= last ? 0 : before + 1)) {
  }
  return before;
}

/// Words that blocks share are outside the check for races between blocks. Inside a block, what was
/// released to a word is known to whoever acquires it.
void BlockRun::on_atomic(host::AtomicCall& call, const void* where) {
  using host::AtomicOperation;
  const bool writes = call.operation != AtomicOperation::kLoad;
  const bool reads = call.operation != AtomicOperation::kStore;
  Access access{call.address, sizeof(unsigned), writes, true, running_, where};
  if (!check_.may_touch(access)) return lose_lane();
  auto* word = static_cast<unsigned*>(call.address);
  Clocks& clocks = check_.clocks();
  if (call.ordered && writes) {
    clocks.release(running_, atomics_[word]);
    clocks.tick(running_);
  }
  switch (call.operation) {
    case AtomicOperation::kAdd:
      call.result = __atomic_fetch_add(word, call.value, __ATOMIC_SEQ_CST);
      break;
    case AtomicOperation::kIncrement:
      call.result = fetch_increment(word, call.value);
      break;
    case AtomicOperation::kExchange:
      call.result = __atomic_exchange_n(word, call.value, __ATOMIC_SEQ_CST);
      break;
    case AtomicOperation::kLoad:
      call.result = __atomic_load_n(word, __ATOMIC_SEQ_CST);
      break;
    case AtomicOperation::kStore:
      __atomic_store_n(word, call.value, __ATOMIC_SEQ_CST);
      break;
  }
  if (call.ordered && reads) clocks.acquire(running_, atomics_[word]);
  if (writes) {
    moved_ = true;
  } else {
    on_yield();  // a load that acquires is how a thread polls
  }
}

unsigned BlockRun::on_shared_address(const void* pointer, const void* where) {
  if (!check_.is_shared(pointer, 1)) {
    current().where = where;
    report(FaultKind::kOutOfBounds, running_ / 32, running_ % 32,
           fmt::format("{} is not in shared memory, where the instruction needs it", pointer));
    lose_lane();
  }
  return kSharedBase + static_cast<unsigned>(check_.shared_offset(pointer));
}

void BlockRun::on_yield() {
  current().fiber.suspend();
}

/// The lane has done what would bring a GPU down: it never goes on, and the block ends here.
void BlockRun::lose_lane() {
  Lane& self = current();
  self.state = LaneState::kLost;
  lost_ = true;
  self.fiber.suspend();
}

}  // namespace heddle
