#include "runtime/host/mbarriers.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace heddle {
namespace {

using host::BarrierOperation;

constexpr int kBytes = 8;
constexpr int kMostArrivals = (1 << 20) - 1;

}  // namespace

void Mbarriers::begin_block(int threads) {
  barriers_.clear();
  woken_.assign(static_cast<std::size_t>(threads), {});
  init_fenced_.assign(static_cast<std::size_t>(threads), 0);
}

void Mbarriers::report(FaultKind kind, int lane, const void* where, std::string text,
                       const void* other) {
  Access access;
  access.actor = lane;
  access.where = where;
  check_.note(access, kind, std::move(text), other);
}

void Mbarriers::init(const host::BarrierCall& call, int lane, const void* where) {
  const std::size_t offset = check_.shared_offset(call.barrier);
  const auto known = barriers_.find(offset);
  if (known != barriers_.end()) {
    report(FaultKind::kBarrierMisuse, lane, where,
           fmt::format("the barrier at offset {} is initialised a second time", offset),
           known->second.init_where);
    return;
  }
  if (call.number < 1 || call.number > kMostArrivals) {
    report(
        FaultKind::kBarrierMisuse, lane, where,
        fmt::format("a barrier of {} arrivals: 1 to {} are possible", call.number, kMostArrivals));
  }
  check_.touch({call.barrier, kBytes, true, true, lane, where});
  check_.begin_flight(call.barrier, kBytes, {true, FaultKind::kBarrierMisuse, where});
  Mbarrier& barrier = barriers_[offset];
  barrier.offset = offset;
  barrier.unit = check_.add_unit(fmt::format("the copies onto the barrier at offset {}", offset));
  barrier.count = barrier.pending = std::max(call.number, 1);
  barrier.init_lane = lane;
  barrier.init_stamp = check_.clocks().now(lane);
  barrier.init_where = where;
  barrier.observed.assign(woken_.size(), Mbarrier::kNothing);
}

void Mbarriers::fence_init(int lane) {
  init_fenced_[static_cast<std::size_t>(lane)] = check_.clocks().now(lane);
  check_.clocks().tick(lane);
}

Mbarrier* Mbarriers::find(void* address, int lane, const void* where) {
  const auto found = check_.is_shared(address, kBytes)
                         ? barriers_.find(check_.shared_offset(address))
                         : barriers_.end();
  if (found == barriers_.end()) {
    report(FaultKind::kBarrierMisuse, lane, where,
           check_.is_shared(address, kBytes)
               ? fmt::format("no barrier was initialised at offset {} of shared memory",
                             check_.shared_offset(address))
               : "a barrier outside shared memory");
    return nullptr;
  }
  Mbarrier& barrier = found->second;
  const auto known = check_.clocks().row(lane);
  if (known[static_cast<std::size_t>(barrier.init_lane)] < barrier.init_stamp) {
    report(FaultKind::kBarrierMisuse, lane, where,
           fmt::format("the barrier at offset {} is used, but nothing orders that after its "
                       "initialisation",
                       barrier.offset),
           barrier.init_where);
  }
  return &barrier;
}

Mbarriers::Outcome Mbarriers::call(host::BarrierCall& call, int lane, const void* where) {
  if (call.operation == BarrierOperation::kInit) {
    if (!check_.is_shared(call.barrier, kBytes) || check_.shared_offset(call.barrier) % kBytes) {
      report(FaultKind::kMisaligned, lane, where,
             "a barrier has to be at a multiple of 8 in shared memory");
      return Outcome::kLost;
    }
    init(call, lane, where);
    return Outcome::kDone;
  }
  Mbarrier* barrier = find(call.barrier, lane, where);
  if (barrier == nullptr) return Outcome::kLost;
  switch (call.operation) {
    case BarrierOperation::kInvalidate:
      if (barrier->flying != 0) {
        report(FaultKind::kBarrierMisuse, lane, where,
               fmt::format("the barrier at offset {} is invalidated with {} bytes on their way",
                           barrier->offset, barrier->flying),
               barrier->copy_where);
        return Outcome::kLost;
      }
      check_.end_flight(call.barrier, kBytes);
      barriers_.erase(barrier->offset);
      break;
    case BarrierOperation::kExpect:
      barrier->expected += call.number;
      settle(*barrier);
      break;
    case BarrierOperation::kArriveExpect:
      barrier->expected += call.number;
      arrive(*barrier, lane, where);
      break;
    case BarrierOperation::kArrive:
      arrive(*barrier, lane, where);
      break;
    default:
      call.result = has_ended(*barrier, static_cast<unsigned>(call.number), lane, where);
      if (call.result) {
        observe(*barrier, lane);
      } else if (call.operation == BarrierOperation::kWait) {
        barrier->waiting.push_back({lane, where});
        return Outcome::kBlocked;
      }
  }
  return Outcome::kDone;
}

void Mbarriers::arrive(Mbarrier& barrier, int lane, const void* where) {
  if (barrier.pending == 0) {
    report(FaultKind::kBarrierMisuse, lane, where,
           fmt::format("phase {} of the barrier at offset {} has had its {} arrivals: one too many",
                       barrier.phase, barrier.offset, barrier.count));
    return;
  }
  check_.clocks().release(lane, barrier.gathering);
  check_.clocks().tick(lane);
  --barrier.pending;
  settle(barrier);
}

bool Mbarriers::has_ended(Mbarrier& barrier, unsigned parity, int lane, const void* where) {
  const int observed = barrier.observed[static_cast<std::size_t>(lane)];
  const bool first = observed == Mbarrier::kNothing;
  // Whoever observes phases one by one means this one.
  const int meant = first ? (parity == 0 ? 0 : -1) : observed + 1;
  const bool names_it = (static_cast<unsigned>(meant) & 1u) == parity;
  if (names_it && meant >= 0 && barrier.phase >= meant + 2) {
    report(FaultKind::kBarrierMisuse, lane, where,
           fmt::format("overrun: the barrier at offset {} is in phase {} already, and this thread "
                       "has not seen phase {} end: its parity is back",
                       barrier.offset, barrier.phase, meant),
           barrier.copy_where);
  }
  return (static_cast<unsigned>(barrier.phase) & 1u) != parity;
}

void Mbarriers::observe(Mbarrier& barrier, int lane) {
  barrier.observed[static_cast<std::size_t>(lane)] = barrier.phase - 1;
  barrier.last_seen_phase = std::max(barrier.last_seen_phase, barrier.phase - 1);
  check_.clocks().acquire(lane, barrier.last);
}

/// Ends the phase if nothing is missing any more.
void Mbarriers::settle(Mbarrier& barrier) {
  if (barrier.pending != 0 || barrier.landed != barrier.expected) {
    if (barrier.pending == 0 && barrier.landed > barrier.expected) report_bytes(barrier);
    return;
  }
  if (barrier.flying != 0) {
    report(FaultKind::kTransaction, barrier.init_lane, barrier.copy_where,
           fmt::format("phase {} of the barrier at offset {} ends with the {} bytes it expected, "
                       "but {} more are on their way",
                       barrier.phase, barrier.offset, barrier.expected, barrier.flying));
  }
  for (std::size_t lane = 0; lane < woken_.size(); ++lane) {
    if (woken_[lane].barrier != &barrier) continue;
    report(FaultKind::kBarrierMisuse, static_cast<int>(lane), woken_[lane].where,
           fmt::format("overrun: phase {} of the barrier at offset {} ends before this thread, "
                       "which waited for phase {}, has looked: to it the parity is back",
                       barrier.phase, barrier.offset, barrier.phase - 1));
  }
  Clocks& clocks = check_.clocks();
  barrier.last = std::move(barrier.gathering);
  barrier.gathering = {};
  barrier.last.seen.resize(
      std::max(barrier.last.seen.size(), static_cast<std::size_t>(barrier.unit) + 1));
  barrier.last.seen[static_cast<std::size_t>(barrier.unit)] = clocks.now(barrier.unit);
  clocks.tick(barrier.unit);
  ++barrier.phase;
  barrier.pending = barrier.count;
  barrier.expected = barrier.landed = barrier.flying = 0;
  std::vector<Mbarrier::Waiter> waiting;
  waiting.swap(barrier.waiting);
  for (const Mbarrier::Waiter& waiter : waiting) {
    observe(barrier, waiter.lane);
    woken_[static_cast<std::size_t>(waiter.lane)] = {&barrier, waiter.where};
    wake_(waiter.lane);
  }
}

Mbarrier* Mbarriers::for_copy(void* address, int lane, const void* where) {
  Mbarrier* barrier = find(address, lane, where);
  if (barrier == nullptr) return nullptr;
  if (init_fenced_[static_cast<std::size_t>(barrier->init_lane)] < barrier->init_stamp) {
    report(FaultKind::kProxy, lane, where,
           fmt::format("a copy completes on the barrier at offset {}: no fence_barrier_init() "
                       "after its initialisation",
                       barrier->offset),
           barrier->init_where);
  }
  return barrier;
}

void Mbarriers::copy_started(Mbarrier& barrier, int bytes, const void* where) {
  barrier.flying += bytes;
  barrier.copy_where = where;
  barrier.last_copy_phase = barrier.phase;
}

void Mbarriers::copy_landed(Mbarrier& barrier, int phase, int bytes) {
  if (phase == barrier.phase) barrier.flying -= bytes;
  barrier.landed += bytes;
  settle(barrier);
}

std::string Mbarriers::describe_wait(int lane) const {
  for (const auto& [offset, barrier] : barriers_) {
    const bool waits =
        std::any_of(barrier.waiting.begin(), barrier.waiting.end(),
                    [&](const Mbarrier::Waiter& waiter) { return waiter.lane == lane; });
    if (!waits) continue;
    return fmt::format(
        "waits for phase {} of the barrier at offset {}: {} of {} arrivals, {} of {} bytes",
        barrier.phase, offset, barrier.count - barrier.pending, barrier.count, barrier.landed,
        barrier.expected);
  }
  return "";
}

void Mbarriers::report_bytes(const Mbarrier& barrier) {
  report(FaultKind::kTransaction, barrier.init_lane, barrier.copy_where,
         fmt::format("phase {} of the barrier at offset {} expects {} bytes, {} have landed",
                     barrier.phase, barrier.offset, barrier.expected, barrier.landed));
}

void Mbarriers::report_stuck() {
  for (const auto& [offset, barrier] : barriers_) {
    if (barrier.pending == 0 && barrier.landed != barrier.expected) report_bytes(barrier);
  }
}

void Mbarriers::report_leftovers() {
  for (const auto& [offset, barrier] : barriers_) {
    if (barrier.last_copy_phase > barrier.last_seen_phase) {
      report(FaultKind::kCopyInFlight, barrier.init_lane, barrier.copy_where,
             fmt::format("the block ends, and nobody has waited for the copies of phase {} onto "
                         "the barrier at offset {}",
                         barrier.last_copy_phase, offset));
    } else if (barrier.expected != barrier.landed) {
      report(FaultKind::kTransaction, barrier.init_lane, barrier.copy_where,
             fmt::format("the block ends in phase {} of the barrier at offset {}, which expects {} "
                         "bytes; {} have landed",
                         barrier.phase, offset, barrier.expected, barrier.landed));
    }
  }
}

}  // namespace heddle
