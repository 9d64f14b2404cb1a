#pragma once
// Where the predicted seconds go, in shares that add up to them.

#include <array>
#include <cstddef>

#include "generator/cost_model.hpp"
#include "generator/field.hpp"

namespace heddle {

/// A resource at its limit, or what keeps all of them from theirs.
enum class TimeShare {
  kTensor,
  kExponential,
  kIssue,
  kSharedMemory,
  kL2,
  kHbm,
  kLoadLatency,
  kOneAfterOther,
  kWaiting,
  kBlockEnds,
  kIdle,
  kLaunch,
};

template <>
struct EnumNames<TimeShare> {
  static constexpr std::array names{
      std::pair{TimeShare::kTensor, std::string_view("tensor cores")},
      std::pair{TimeShare::kExponential, std::string_view("exponentials")},
      std::pair{TimeShare::kIssue, std::string_view("instruction issue")},
      std::pair{TimeShare::kSharedMemory, std::string_view("shared-memory traffic")},
      std::pair{TimeShare::kL2, std::string_view("L2 traffic")},
      std::pair{TimeShare::kHbm, std::string_view("HBM traffic")},
      std::pair{TimeShare::kLoadLatency, std::string_view("latency of loads")},
      std::pair{TimeShare::kOneAfterOther, std::string_view("work in turn, not overlapped")},
      std::pair{TimeShare::kWaiting, std::string_view("barriers and latencies")},
      std::pair{TimeShare::kBlockEnds, std::string_view("first loads and last stores")},
      std::pair{TimeShare::kIdle, std::string_view("SMs without work")},
      std::pair{TimeShare::kLaunch, std::string_view("launches")}};
};

constexpr std::size_t kTimeShareCount = EnumNames<TimeShare>::names.size();

struct TimeShares {
  std::array<double, kTimeShareCount> seconds{};

  double& operator[](TimeShare share) { return seconds[static_cast<std::size_t>(share)]; }
  double operator[](TimeShare share) const { return seconds[static_cast<std::size_t>(share)]; }
  double total() const;
  TimeShare largest() const;
};

/// One share before and after a change of config.
struct ShareChange {
  TimeShare share{};
  double before = 0;
  double after = 0;
};
/// The share that shrinks most, and the one that grows most. SMs without work only count where they
/// are another part of the whole: else they wait for what else has changed.
ShareChange most_shrunk(const TimeShares& before, const TimeShares& after);
ShareChange most_grown(const TimeShares& before, const TimeShares& after);

/// Blocks that share an SM: fewer than fit where there are few.
double blocks_at_once(const PartPrediction& part, const DeviceLimits& limits);

TimeShares part_time_shares(const PartPrediction& part, const DeviceLimits& limits);

/// Of all launches; the total is predict()'s.
TimeShares time_shares(const Problem& problem, const KernelConfig& config,
                       const DeviceLimits& limits);

}  // namespace heddle
