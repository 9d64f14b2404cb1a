#pragma once
// The barriers in a block's shared memory that count arrivals and bytes (mbarrier).

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/host/access_check.hpp"
#include "runtime/host/device/host_calls.cuh"

namespace heddle {

/// One barrier. Phase n ends when `pending` arrivals and `expected` - `landed` bytes have come down
/// to zero.
struct Mbarrier {
  std::size_t offset = 0;  ///< in shared memory
  int unit = 0;            ///< the actor of the copies that complete on it
  int count = 0;           ///< arrivals a phase
  int phase = 0;
  int pending = 0;
  long long expected = 0;
  long long landed = 0;
  long long flying = 0;      ///< bytes started in this phase that have not landed
  int last_copy_phase = -1;  ///< the last phase into which a copy was started
  int last_seen_phase = -1;  ///< the last one whose end somebody has observed
  Knowledge gathering;       ///< released into the current phase
  Knowledge last;            ///< what whoever observes the end of the phase before acquires
  int init_lane = 0;
  Clock init_stamp = 0;
  const void* init_where = nullptr;
  const void* copy_where = nullptr;
  struct Waiter {
    int lane;
    const void* where;
  };
  std::vector<Waiter> waiting;  ///< for the current phase
  std::vector<int> observed;    ///< by lane: the last phase whose end it knows of, or kNothing

  static constexpr int kNothing = -2;
};

class Mbarriers {
 public:
  /// `wake` is told of each lane whose wait is over.
  Mbarriers(AccessCheck& check, std::function<void(int)> wake)
      : check_(check), wake_(std::move(wake)) {}

  void begin_block(int threads);

  enum class Outcome { kDone, kBlocked, kLost };
  Outcome call(host::BarrierCall& call, int lane, const void* where);
  /// From now on initialised barriers may be used by the async proxy.
  void fence_init(int lane);

  /// The barrier at an address that a copy names, or null after a report.
  Mbarrier* for_copy(void* address, int lane, const void* where);
  void copy_started(Mbarrier& barrier, int bytes, const void* where);
  /// `phase`: the one in which the copy was started.
  void copy_landed(Mbarrier& barrier, int phase, int bytes);

  /// A lane runs again: it has seen the end of the phase it waited for.
  void resumed(int lane) { woken_[static_cast<std::size_t>(lane)].barrier = nullptr; }
  /// "waits for phase 3 of the barrier at offset 65, …", or empty.
  std::string describe_wait(int lane) const;
  /// When nobody can go on: says whether bytes are to blame.
  void report_stuck();
  /// When all threads have ended.
  void report_leftovers();

 private:
  Mbarrier* find(void* address, int lane, const void* where);
  void init(const host::BarrierCall& call, int lane, const void* where);
  void arrive(Mbarrier& barrier, int lane, const void* where);
  bool has_ended(Mbarrier& barrier, unsigned parity, int lane, const void* where);
  void settle(Mbarrier& barrier);
  void observe(Mbarrier& barrier, int lane);
  void report_bytes(const Mbarrier& barrier);
  void report(FaultKind kind, int lane, const void* where, std::string text,
              const void* other = nullptr);

  AccessCheck& check_;
  std::function<void(int)> wake_;
  std::map<std::size_t, Mbarrier> barriers_;  ///< by offset
  struct Woken {
    const Mbarrier* barrier = nullptr;
    const void* where = nullptr;
  };
  std::vector<Woken> woken_;        ///< by lane, until it runs
  std::vector<Clock> init_fenced_;  ///< by lane
};

}  // namespace heddle
