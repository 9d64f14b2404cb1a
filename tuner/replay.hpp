#pragma once
// Searches again through what was measured once: no device, no compiler. The data are the rows of
// an exhaustive tuning, from a database or from a file (recording_file.hpp).

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "generator/architecture.hpp"
#include "tuner/search.hpp"
#include "tuning_db/records.hpp"

namespace heddle {

/// One problem on one device with all that was measured for it.
struct Recording {
  Problem problem;
  DeviceClass device;
  int legal = 0;     ///< configs that there were to try; 0 = not known
  std::string made;  ///< by which heddle, driver and NVRTC, and when
  struct Entry {
    KernelConfig config;
    std::vector<double> seconds;  ///< of each sample; none = failed
    double relative = 0;  ///< time over the default's, taken in turns with it; 0 = not known
    std::string failure;
    // What follows finish() fills in.
    double predicted_seconds = 0;
    std::vector<double> samples;  ///< in the unit of `cost`
    double cost = 0;              ///< infinity for a failure
  };
  std::vector<Entry> entries;  ///< cheapest predicted first
  /// Rows that are not in it, by the heddle, driver and NVRTC that made them.
  std::map<std::string, int> left_out;

  /// Predictions, costs and order. A card is not as fast at the end of a search as at its start, so
  /// costs are times over the default's where all entries have them, else seconds.
  void finish();
  double best_cost() const;
};

/// Limits of the architecture with the device's own figures.
DeviceLimits limits_of(const DeviceClass& device);

/// Of each problem the rows by one heddle, driver and NVRTC: those with the newest row, or the
/// newest of those whose "heddle …, driver …, NVRTC …" contains `made_by`; without entries where
/// none does. Of several rows for one config that with the most samples counts, else the newest.
std::vector<Recording> recordings_of(const std::vector<Measurement>& rows,
                                     const std::string& made_by = "");

/// The default that the tuner would begin with; nullopt where it is not recorded.
std::optional<std::size_t> recorded_default(const Recording& recording);

struct Replayed {
  std::size_t tried = 0;
  std::size_t chosen = 0;  ///< position in the recording's entries
  double regret = 0;       ///< cost of what was chosen over the best there is, minus 1
  double noise = 0;        ///< by which two copies of one kernel differed in the last race
};

/// Repeats tunings with the strategies and the contest that make one; what is made up is the
/// device. Seeds differ as two tunings do: kernels compile kThreads at a time and are done in any
/// order, and samples deviate, in part each by itself and in part together with those before and
/// after, so that a round of screening is worth little more than one sample. A clock that changes
/// slows all that run in one round, and has no part here.
class Replay {
 public:
  static constexpr std::size_t kThreads = 16;
  /// Samples with a deviation in common, which is as large as those within a round. Assumed, since
  /// recordings keep one round of most kernels: with it two tunings differ where they did on an
  /// H200.
  static constexpr int kLasting = 5;

  /// The recording outlives it.
  explicit Replay(const Recording& recording);
  /// A recording without an entry that can run has a regret without end.
  Replayed run(Strategy strategy, std::uint64_t seed) const;

 private:
  const Recording& recording_;
  std::vector<std::vector<std::size_t>> neighbours_;
  std::optional<std::size_t> base_;
};

/// The best cost among the first `count` by prediction, over the best there is, minus 1.
double predicted_regret(const Recording& recording, std::size_t count);

}  // namespace heddle
