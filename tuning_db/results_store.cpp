#include "tuning_db/results_store.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "tuning_db/database.hpp"
#include "tuning_db/results_lookup.hpp"
#include "tuning_db/results_merge.hpp"
#include "tuning_db/results_row.hpp"
#include "tuning_db/results_table.hpp"

namespace heddle {

struct ResultsStore::State {
  explicit State(const Options& options)
      : database({.path = options.path,
                  .read_only = options.read_only,
                  .busy_timeout_ms = options.busy_timeout_ms,
                  .warn = options.warn,
                  .file_system = nullptr},
                 results_schema()),
        // The embedded entries outlive every store: an owner of nothing will do.
        shipped(options.shipped ? options.shipped
                                : std::shared_ptr<const std::vector<Measurement>>(
                                      std::shared_ptr<void>(), &shipped_entries())) {}
  ~State() {
    database.retry_now();
    flush();
  }

  void flush() {
    if (unwritten.empty()) return;
    const bool written =
        database.write([&](SQLite::Database& file) { insert_rows(file, unwritten); });
    if (!written) return;
    unwritten.clear();
    checksums.clear();
  }

  std::vector<Measurement> rows_of_file(const RowQuery& query) {
    std::vector<Measurement> rows;
    database.read([&](SQLite::Database& file) {
      ++queries;
      rows = select_rows(file, query);
    });
    return rows;
  }

  mutable std::mutex mutex;
  Database database;
  std::shared_ptr<const std::vector<Measurement>> shipped;
  std::vector<Measurement> unwritten;
  std::set<std::string> checksums;  ///< of the unwritten
  long long queries = 0;
};

ResultsStore::ResultsStore(Options options) : state_(std::make_unique<State>(options)) {}
ResultsStore::ResultsStore(ResultsStore&&) noexcept = default;
ResultsStore& ResultsStore::operator=(ResultsStore&&) noexcept = default;
ResultsStore::~ResultsStore() = default;

void ResultsStore::record(const Measurement& measurement) {
  record(std::vector<Measurement>{measurement});
}

void ResultsStore::record(const std::vector<Measurement>& measurements) {
  const std::lock_guard lock(state_->mutex);
  for (const auto& measurement : measurements) {
    auto row = normalised(measurement);
    if (!state_->checksums.insert(row_checksum(columns_of(row))).second) continue;
    state_->unwritten.push_back(std::move(row));
  }
  state_->flush();
}

std::optional<Lookup> ResultsStore::find(
    const Variant& variant, const SizeBucket& bucket, const DeviceClass& device,
    const std::function<bool(const KernelConfig&)>& legal) const {
  return find(variant, bucket, device, [&](const Lookup& answer) {
    return legal(answer.config) ? Verdict::kTake : Verdict::kNextConfig;
  });
}

std::optional<Lookup> ResultsStore::find(const Variant& variant, const SizeBucket& bucket,
                                         const DeviceClass& device,
                                         const std::function<Verdict(const Lookup&)>& judge) const {
  const std::lock_guard lock(state_->mutex);
  const auto answer = [&](const std::vector<Measurement>& file, RowFilter filter, Match match) {
    const RowQuery query{variant, bucket, device, filter};
    std::vector<RankedRow> rows;
    for (const auto& row : *state_->shipped) {
      if (is_selected(row, query)) rows.push_back({&row, Layer::kShipped});
    }
    for (const auto& row : file) rows.push_back({&row});
    for (const auto& row : state_->unwritten) {
      if (is_selected(row, query)) rows.push_back({&row});
    }
    return best_answer(rows, {bucket, device, match}, judge);
  };
  const auto read = [&](RowFilter filter) {
    return state_->rows_of_file({variant, bucket, device, filter});
  };
  if (auto found = answer(read(RowFilter::kExact), RowFilter::kExact, Match::kExact)) return found;
  const auto here = read(RowFilter::kThisDevice);
  if (auto found = answer(here, RowFilter::kThisDevice, Match::kNearestSize)) return found;
  const auto elsewhere = read(RowFilter::kOtherDevices);
  if (auto found = answer(elsewhere, RowFilter::kOtherDevices, Match::kOtherDevice)) return found;
  return answer(here, RowFilter::kThisDevice, Match::kPredicted);
}

std::vector<Measurement> ResultsStore::list() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<Measurement> rows;
  state_->database.read([&](SQLite::Database& file) { rows = select_all_rows(file); });
  rows.insert(rows.end(), state_->unwritten.begin(), state_->unwritten.end());
  std::stable_sort(rows.begin(), rows.end(), listed_before);
  return rows;
}

std::vector<Measurement> ResultsStore::rows_of(const Variant& variant,
                                               const DeviceClass& device) const {
  const std::lock_guard lock(state_->mutex);
  const SizeBucket any;
  const RowQuery query{variant, any, device, RowFilter::kThisDevice};
  std::vector<Measurement> rows;
  state_->database.read([&](SQLite::Database& file) { rows = select_rows(file, query); });
  for (const Measurement& row : state_->unwritten) {
    if (is_selected(row, query)) rows.push_back(row);
  }
  return rows;
}

std::vector<Measurement> ResultsStore::evidence_of(const Variant& variant) const {
  const std::lock_guard lock(state_->mutex);
  const SizeBucket any_size;
  const DeviceClass any_device;
  const RowQuery query{variant, any_size, any_device, RowFilter::kAnyDevice};
  std::vector<Measurement> rows;
  state_->database.read([&](SQLite::Database& file) { rows = select_rows(file, query); });
  const auto add = [&](const std::vector<Measurement>& others) {
    for (const Measurement& row : others) {
      if (is_selected(row, query)) rows.push_back(row);
    }
  };
  add(state_->unwritten);
  add(*state_->shipped);
  return rows;
}

std::vector<Measurement> ResultsStore::winners() const {
  return best_rows(list());
}

std::optional<ResultsStore::Pruned> ResultsStore::prune(const Pruning& pruning) {
  const std::lock_guard lock(state_->mutex);
  state_->flush();
  Pruned pruned;
  const bool done = state_->database.write([&](SQLite::Database& file) {
    pruned = {};
    pruned.damaged = delete_damaged_rows(file);
    const auto rows = select_all_rows(file);
    const auto superfluous = superfluous_rows(rows, pruning.failures, pruning.older_than);
    delete_rows(file, superfluous);
    pruned.removed = static_cast<long long>(superfluous.size());
    pruned.kept = static_cast<long long>(rows.size()) - pruned.removed;
  });
  if (!done) return std::nullopt;
  state_->database.read([](SQLite::Database& file) { file.exec("VACUUM"); });
  return pruned;
}

long long ResultsStore::query_count() const {
  const std::lock_guard lock(state_->mutex);
  return state_->queries;
}

StorageState ResultsStore::state() const {
  const std::lock_guard lock(state_->mutex);
  return state_->database.state();
}

std::size_t ResultsStore::unwritten_count() const {
  const std::lock_guard lock(state_->mutex);
  return state_->unwritten.size();
}

std::string ResultsStore::path() const {
  return state_->database.path();
}

}  // namespace heddle
