#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/field.hpp"
#include "generator/hash.hpp"
#include "tuning_db/database_paths.hpp"
#include "tuning_db/storage.hpp"

namespace heddle {

/// Resources of a compiled kernel, from the compiler's log.
struct CompileNotes {
  int registers = 0;
  int spill_store_bytes = 0;
  int spill_load_bytes = 0;
  int stack_bytes = 0;
  int static_shared_bytes = 0;
  double seconds = 0;
  std::string remarks;  ///< e.g. ptxas C75xx lines

  static constexpr auto fields() {
    return std::make_tuple(
        field("registers", &CompileNotes::registers, "registers per thread"),
        field("spill_store_bytes", &CompileNotes::spill_store_bytes, "bytes spilled per thread"),
        field("spill_load_bytes", &CompileNotes::spill_load_bytes, "bytes reloaded per thread"),
        field("stack_bytes", &CompileNotes::stack_bytes, "stack frame"),
        field("static_shared_bytes", &CompileNotes::static_shared_bytes, "static shared memory"),
        field("seconds", &CompileNotes::seconds, "compile time"),
        field("remarks", &CompileNotes::remarks, "remarks of the compiler"));
  }
};

struct StoredCubin {
  std::vector<char> bytes;
  std::string entry;
  CompileNotes notes;
};

/// Compiled kernels by 128-bit key: bounded in size, disposable (cubins.db). Each blob carries a
/// checksum verified on read; a damaged one is a miss. Never throws for a reason of the file's: it
/// degrades to memory with one warning, as ResultsStore does. Thread-safe; several processes may
/// share the file.
class CubinStore {
 public:
  struct Options {
    std::string path;  ///< empty = in memory only
    long long capacity_bytes = 512LL << 20;
    int busy_timeout_ms = 2000;
    WarningSink warn;
  };
  explicit CubinStore(Options options);
  ~CubinStore();
  CubinStore(CubinStore&&) noexcept;
  CubinStore& operator=(CubinStore&&) noexcept;

  std::optional<StoredCubin> get(const Hash128& key);
  /// Evicts the least recently used to stay within the capacity; a cubin larger than that is not
  /// kept. Never throws.
  void put(const Hash128& key, const StoredCubin& cubin);
  /// Forgets everything; works on a full disk too.
  void clear();
  long long size_bytes() const;  ///< of the cubins kept, without SQLite's overhead
  long long read_count() const;  ///< SELECTs made by get()
  StorageState state() const;
  bool in_memory() const { return state() == StorageState::kMemory; }
  std::string path() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle
