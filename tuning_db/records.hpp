#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "generator/bucket.hpp"
#include "generator/kernel_config.hpp"
#include "generator/problem.hpp"

namespace heddle {

/// The device class a result belongs to: silicon, not marketing name and not index.
struct DeviceClass {
  int capability_major = 0;
  int capability_minor = 0;
  int sm_count = 0;
  long long shared_bytes_per_block = 0;
  long long l2_bytes = 0;
  std::string name;  ///< for people; never compared

  /// The identity: without the name.
  static constexpr auto fields() {
    return std::make_tuple(field("capability_major", &DeviceClass::capability_major, "9 of 9.0"),
                           field("capability_minor", &DeviceClass::capability_minor, "0 of 9.0"),
                           field("sm_count", &DeviceClass::sm_count, "streaming multiprocessors"),
                           field("shared_bytes_per_block", &DeviceClass::shared_bytes_per_block,
                                 "largest shared memory of a block"),
                           field("l2_bytes", &DeviceClass::l2_bytes, "second-level cache"));
  }
  bool same_class(const DeviceClass& other) const { return fields_equal(*this, other); }
};

/// Who measured, with what.
struct Provenance {
  std::string driver_version;  ///< "13.0"
  std::string nvrtc_version;   ///< "13.0", with the library's build id
  std::string heddle_version;
  std::string source_hash;  ///< of the flattened kernel source(s)
  std::string when;         ///< UTC, ISO 8601
  std::string command;      ///< that repeats it

  static constexpr auto fields() {
    return std::make_tuple(
        field("driver_version", &Provenance::driver_version, "CUDA driver"),
        field("nvrtc_version", &Provenance::nvrtc_version, "NVRTC and its build id"),
        field("heddle_version", &Provenance::heddle_version, "heddle"),
        field("source_hash", &Provenance::source_hash, "of the flattened kernel source"),
        field("when", &Provenance::when, "UTC, ISO 8601"),
        field("command", &Provenance::command, "that repeats it"));
  }
};

/// The record of a passed (or failed) comparison with the float64 reference.
struct CheckRecord {
  bool passed = false;
  double max_error = 0;  ///< of O, absolute
  double baseline_max_error = 0;
  double rms_error = 0;
  double baseline_rms_error = 0;
  double lse_error = 0;
  std::string sizes;  ///< canonical text of the Sizes checked

  static constexpr auto fields() {
    return std::make_tuple(
        field("passed", &CheckRecord::passed, "whether it may win"),
        field("max_error", &CheckRecord::max_error, "of O, absolute"),
        field("baseline_max_error", &CheckRecord::baseline_max_error, "of the fp32 baseline"),
        field("rms_error", &CheckRecord::rms_error, "of O"),
        field("baseline_rms_error", &CheckRecord::baseline_rms_error, "of the fp32 baseline"),
        field("lse_error", &CheckRecord::lse_error, "of the LSE, absolute"),
        field("sizes", &CheckRecord::sizes, "sizes checked, as canonical text"));
  }
};

enum class Evidence { kMeasured, kPredicted, kFailed };
template <>
struct EnumNames<Evidence> {
  static constexpr std::array names{std::pair{Evidence::kMeasured, std::string_view("measured")},
                                    std::pair{Evidence::kPredicted, std::string_view("predicted")},
                                    std::pair{Evidence::kFailed, std::string_view("failed")}};
};

/// One row per measurement (or prediction, or failure) of one config on one problem and device.
struct Measurement {
  Variant variant;
  SizeBucket bucket;
  Sizes sizes;
  DeviceClass device;
  KernelConfig config;
  Evidence evidence = Evidence::kMeasured;
  double median_seconds = 0;
  double spread_seconds = 0;  ///< interquartile range of the samples
  int samples = 0;
  double clock_mhz = 0;
  std::string failure;  ///< why, when evidence is kFailed
  /// Picked by a tuning that came to its end. Before that its rows are the best so far and no more.
  bool chosen = false;
  double relative = 0;  ///< its time over the default config's, the two in turns; 0 = unknown
  double interval_seconds = 0;  ///< half of the median's 95 % confidence interval
  double noise = 0;  ///< of chosen ones: what two copies of one kernel differed by, as a fraction
  double elapsed_seconds = 0;  ///< since its tuning began
  bool warm = false;           ///< inputs stayed in the L2 cache, as asked for
  int registers = 0;           ///< per thread, the most of its kernels
  int spill_bytes = 0;         ///< stored per thread, the same
  std::string tuning;          ///< which run of the tuner
  std::string timings;         ///< every sample as nanoseconds@MHz, in the order measured
  std::optional<CheckRecord> check;
  Provenance provenance;

  /// The figures; the structs above have lists of their own.
  static constexpr auto fields() {
    return std::make_tuple(
        field("evidence", &Measurement::evidence, "measured, predicted or failed"),
        field("median_seconds", &Measurement::median_seconds, "median of the samples"),
        field("spread_seconds", &Measurement::spread_seconds, "their interquartile range"),
        field("samples", &Measurement::samples, "how many"),
        field("clock_mhz", &Measurement::clock_mhz, "SM clock while measuring"),
        field("failure", &Measurement::failure, "why it failed"),
        field("chosen", &Measurement::chosen, "picked by a finished tuning"),
        field("relative", &Measurement::relative, "time over the default config's"),
        field("interval_seconds", &Measurement::interval_seconds,
              "half of the median's 95 % confidence interval"),
        field("noise", &Measurement::noise, "what two copies of one kernel differed by"),
        field("elapsed_seconds", &Measurement::elapsed_seconds, "since its tuning began"),
        field("warm", &Measurement::warm, "inputs stayed in the L2 cache"),
        field("registers", &Measurement::registers, "per thread"),
        field("spill_bytes", &Measurement::spill_bytes, "stored per thread"),
        field("tuning", &Measurement::tuning, "which run of the tuner"),
        field("timings", &Measurement::timings, "every sample, nanoseconds@MHz"));
  }
};

enum class Match { kExact, kNearestSize, kOtherDevice, kPredicted, kDefault };
template <>
struct EnumNames<Match> {
  static constexpr std::array names{
      std::pair{Match::kExact, std::string_view("exact")},
      std::pair{Match::kNearestSize, std::string_view("nearest_size")},
      std::pair{Match::kOtherDevice, std::string_view("other_device")},
      std::pair{Match::kPredicted, std::string_view("predicted")},
      std::pair{Match::kDefault, std::string_view("default")}};
};

inline constexpr double kRegretPerDoubling = 0.05;

/// A winner and how well it fits the question.
struct Lookup {
  KernelConfig config;
  Match match = Match::kDefault;
  double median_seconds = 0;
  /// Expected slowdown against this size's own optimum, as a factor >= 1; 1 for an exact match.
  /// kRegretPerDoubling per doubling of distance: |log2| of the ratio of each bucket field and, on
  /// another device, of the SM counts. An assumption to rank by, not a measurement
  /// (transfer_regret.hpp).
  double expected_regret = 1;
  SizeBucket bucket;  ///< the size it was measured or predicted for
  /// Measured, but only the best so far of a tuning that did not end.
  bool partial = false;
  DeviceClass device;  ///< where it was measured or predicted
  /// That all tunings of its place were narrowed to: of others nobody there knows anything. Empty =
  /// one was not narrowed.
  std::vector<Family> families;
};

/// What whoever asked makes of an answer.
enum class Verdict {
  kTake,
  kNextConfig,  ///< this config cannot run; the next fastest of the same place may
  kNextPlace,   ///< what is fastest there does not transfer, so nothing slower of there does
};

}  // namespace heddle
