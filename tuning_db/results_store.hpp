#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tuning_db/records.hpp"
#include "tuning_db/storage.hpp"

namespace heddle {

/// Measurements, predictions, failures and winners: durable, never evicted (results.db). Never a
/// reason to fail: an unwritable, locked, full, corrupt or newer database degrades to memory with
/// one warning; rows that could not be written are written as soon as they can be. Thread-safe;
/// several processes may share the file.
class ResultsStore {
 public:
  struct Options {
    std::string path;  ///< empty = in memory only
    bool read_only = false;
    int busy_timeout_ms = 2000;
    WarningSink warn;
    /// The read-only layer under the user's rows; null = shipped_entries().
    std::shared_ptr<const std::vector<Measurement>> shipped;
  };
  explicit ResultsStore(Options options);
  ~ResultsStore();
  ResultsStore(ResultsStore&&) noexcept;
  ResultsStore& operator=(ResultsStore&&) noexcept;

  /// Stores one row; a new row for the same (variant, bucket, device, config, evidence) is kept
  /// beside the old ones (newest valid evidence wins); the very same row is kept once. A measured
  /// row without a passed check is stored but can never win. An empty provenance.when becomes now.
  void record(const Measurement& measurement);
  /// The same for many, in one transaction.
  void record(const std::vector<Measurement>& measurements);

  /// Best winner for the question that the judge takes, in this order: measured for exactly this
  /// (variant, bucket, device class); measured for the nearest other bucket; measured on another
  /// device of the same compute capability (nearest SM count, then nearest bucket); predicted
  /// (nearest bucket). Within one of these: nearest first, then what a finished tuning chose (a
  /// user's before a shipped one, then the newest) before what is only measured (a user's before a
  /// shipped one, then the fastest). A config is out where a failure is newer than its success with
  /// the same source hash: a failed check counts in every bucket, any other failure in its own. The
  /// judge has the last word (and must not call this store): it is shown one answer after the
  /// other. nullopt = it took none.
  std::optional<Lookup> find(const Variant& variant, const SizeBucket& bucket,
                             const DeviceClass& device,
                             const std::function<Verdict(const Lookup&)>& judge) const;
  /// The same where all that is legal will do.
  std::optional<Lookup> find(const Variant& variant, const SizeBucket& bucket,
                             const DeviceClass& device,
                             const std::function<bool(const KernelConfig&)>& legal) const;

  std::vector<Measurement> list() const;  ///< every readable user row, in a stable order
  /// Those for a variant on a device class, in the order of their recording.
  std::vector<Measurement> rows_of(const Variant& variant, const DeviceClass& device) const;
  /// Those for a variant on any device, shipped ones too.
  std::vector<Measurement> evidence_of(const Variant& variant) const;
  std::vector<Measurement> winners() const;  ///< best of them per (variant, bucket, device)

  struct Pruning {
    bool failures = false;   ///< all failures too, so that those candidates are tried again
    std::string older_than;  ///< and what is older than this time, unless it answers; "" = none
  };
  struct Pruned {
    long long removed = 0;
    long long damaged = 0;  ///< removed beside these
    long long kept = 0;
  };
  /// Removes rows of the file that no question is answered by: those replaced by newer evidence for
  /// the same sizes, config and source, and damaged ones. What winners() says stays the same.
  /// nullopt = the file could not be written.
  std::optional<Pruned> prune(const Pruning& pruning);

  long long query_count() const;  ///< SELECTs made by find(), for tests and `devices`
  StorageState state() const;
  /// True also after degrading.
  bool in_memory() const { return state() == StorageState::kMemory; }
  /// Rows that are only in memory until the file takes them (or for good, with no file).
  std::size_t unwritten_count() const;
  std::string path() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Stable, diff-friendly YAML of rows (defaults left out, as in canonical texts).
std::string export_yaml(const std::vector<Measurement>& rows);
/// Throws kInvalidArgument naming file, line, field, value and remedy.
std::vector<Measurement> import_yaml(const std::string& text, const std::string& file_name);

/// The tuned entries shipped with the library (embedded; a read-only layer under the user's).
const std::vector<Measurement>& shipped_entries();

}  // namespace heddle
