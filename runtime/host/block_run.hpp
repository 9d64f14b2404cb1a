#pragma once
// Runs one block of a kernel after another on the calling thread: every CUDA thread a fiber, warps
// in random order, collectives where the lanes meet.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/host/access_check.hpp"
#include "runtime/host/bulk_copies.hpp"
#include "runtime/host/copy_queue.hpp"
#include "runtime/host/device/host_calls.cuh"
#include "runtime/host/fiber.hpp"
#include "runtime/host/landing.hpp"
#include "runtime/host/matrix.hpp"
#include "runtime/host/matrix_units.hpp"
#include "runtime/host/mbarriers.hpp"
#include "runtime/host/random.hpp"
#include "runtime/host/register_pool.hpp"

namespace heddle {

struct BlockShape {
  int threads = 0;
  int shared_bytes = 0;
  int registers_per_thread = 0;  ///< at launch; 0 = not known: setmaxnreg is not checked
  int grid_blocks = 1;
};

struct Schedule {
  std::uint64_t seed = 0;
  Landing landing = Landing::kLatest;
};

/// How often each hardware barrier (named, or 0: the block's) was complete.
using BarrierCounts = std::map<int, long long>;

class BlockRun {
 public:
  /// `body` is what each thread runs; `enter` receives the state that the kernel's code reads.
  struct Program {
    std::function<void()> body;
    std::function<void(const host::ThreadState*)> enter;
  };

  BlockRun(const BlockShape& shape, const Schedule& schedule, const MemoryMap& memory,
           Program program);

  /// False when the block could not be brought to its end. Findings go to the log.
  bool run(int block);
  std::vector<HostFault> take_faults() { return log_.take(); }
  /// In all blocks so far.
  const BarrierCounts& barrier_counts() const { return barrier_counts_; }

  static const host::HostCalls& calls();

 private:
  enum class LaneState {
    kReady,
    kMeeting,  ///< with its warp
    kGroup,    ///< its warp, with the warpgroup
    kBarrier,
    kWaiting,  ///< alone, for a barrier in shared memory
    kDone,
    kLost
  };
  struct Lane {
    Fiber fiber;
    LaneState state = LaneState::kReady;
    host::WarpCall* call = nullptr;
    const void* where = nullptr;
    CopyQueue copies;
  };
  /// A hardware barrier and who has come to it.
  struct Barrier {
    int expected = 0;  ///< threads; 0 = nobody has come yet
    int arrived = 0;
    bool any = false;
    std::vector<int> waiting;  ///< warps
    Knowledge knowledge;
    const void* where = nullptr;
  };

  // Called from inside a fiber.
  void on_access(const Access& access);
  void on_warp_call(host::WarpCall& call, const void* where);
  void on_copy(const host::CopyAsync& copy, const void* where);
  void on_barrier(host::BarrierCall& call, const void* where);
  void on_bulk_copy(const host::BulkCopy& copy, const void* where);
  void on_atomic(host::AtomicCall& call, const void* where);
  unsigned on_shared_address(const void* pointer, const void* where);
  /// Lets others run first: this thread polls.
  void on_yield();
  void lose_lane();

  // Called by the scheduler.
  void start_block(int block);
  void end_block();
  bool find_runnable(std::vector<int>& warps);
  bool stalled() const;
  void step_warp(int warp);
  void run_lane(int index);
  void settle_warp(int warp);
  void perform(int warp);
  void perform_alone(int warp);
  bool agree(int warp) const;
  void vote(int warp);
  void shuffle(int warp);
  void elect(int warp);
  void move_matrices(int warp);
  void sync_warp(int warp);
  void arrive(int warp);
  void complete(Barrier& barrier);
  void release(int warp);

  // Warpgroups.
  void meet_group(int warp);
  bool group_agrees(int group) const;
  void perform_group(int group);
  void change_registers(int group);
  void serve_register_waits();

  void report_divergence(int warp);
  void report_group(int group);
  void report_deadlock();
  void report(FaultKind kind, int warp, int lane, std::string text);
  std::string describe_wait(int warp) const;
  std::string describe_lane(int warp, int index) const;

  Lane& lane(int warp, int index) { return lanes_[static_cast<std::size_t>(32 * warp + index)]; }
  const Lane& lane(int warp, int index) const {
    return lanes_[static_cast<std::size_t>(32 * warp + index)];
  }
  Lane& current() { return lanes_[static_cast<std::size_t>(running_)]; }
  WarpCalls calls_of(int warp) const;
  bool lane_is(int warp, LaneState state) const;
  CopyContext copy_context();

  BlockShape shape_;
  Schedule schedule_;
  Program program_;
  FaultLog log_;
  AccessCheck check_;
  HostRandom random_;
  Mbarriers mbarriers_;
  BulkCopies bulk_copies_;
  MatrixUnits matrix_units_;
  RegisterPool registers_;
  StackPool stacks_;
  std::vector<unsigned char> shared_storage_;
  unsigned char* shared_ = nullptr;
  std::vector<Lane> lanes_;
  std::map<int, Barrier> barriers_;
  BarrierCounts barrier_counts_;
  std::map<const void*, Knowledge> atomics_;  ///< released to words of global memory
  std::vector<int> register_waits_;           ///< warpgroups
  host::ThreadState state_{};
  int running_ = 0;     ///< lane whose fiber runs
  int elected_ = 0;     ///< the lane that elect.sync picks
  bool moved_ = false;  ///< something but polling has happened in this step
  int idle_steps_ = 0;  ///< since then
  bool lost_ = false;

  friend struct BlockCalls;
};

}  // namespace heddle
