#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tuning_db/records.hpp"
#include "tuning_db/storage.hpp"

namespace heddle {

/// Measurements, predictions, failures and winners: durable, never evicted (design: results.db).
/// Never a reason to fail: an unwritable, locked, full, corrupt or newer database degrades to
/// memory with one warning. Safe to use from several threads and processes.
class ResultsStore {
 public:
  struct Options {
    std::string path;  ///< empty = in memory only
    bool read_only = false;
    int busy_timeout_ms = 2000;
    WarningSink warn;
  };
  explicit ResultsStore(Options options);
  ~ResultsStore();
  ResultsStore(ResultsStore&&) noexcept;
  ResultsStore& operator=(ResultsStore&&) noexcept;

  /// Stores one row; a new row for the same (variant, bucket, device, config, evidence) is kept
  /// beside the old ones (newest valid evidence wins). A measured row without a passed check is
  /// stored but can never win.
  void record(const Measurement& measurement);

  /// Best legal winner for the question. `legal` decides; rows it refuses are skipped. User rows
  /// come before shipped ones of equal match. nullopt = nothing usable.
  std::optional<Lookup> find(const Variant& variant, const SizeBucket& bucket,
                             const DeviceClass& device,
                             const std::function<bool(const KernelConfig&)>& legal) const;

  std::vector<Measurement> list() const;     ///< every readable row, in a stable order
  std::vector<Measurement> winners() const;  ///< best row per (variant, bucket, device)

  long long query_count() const;  ///< SELECTs made by find(), for tests and `devices`
  bool in_memory() const;         ///< true also after degrading
  std::string path() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Stable, diff-friendly YAML of rows; import validates every field and names the bad line.
std::string export_yaml(const std::vector<Measurement>& rows);
std::vector<Measurement> import_yaml(const std::string& text, const std::string& file_name);

/// The tuned entries shipped with the library (embedded; a read-only layer under the user's).
const std::vector<Measurement>& shipped_entries();

}  // namespace heddle
