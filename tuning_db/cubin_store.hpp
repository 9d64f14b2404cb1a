#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/hash.hpp"

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
};

struct StoredCubin {
  std::vector<char> bytes;
  std::string entry;
  CompileNotes notes;
};

/// Compiled kernels by 128-bit key: bounded in size, disposable (design: cubins.db). Each blob
/// carries a checksum verified on read; a damaged one is a miss. Same degradation as ResultsStore.
class CubinStore {
 public:
  struct Options {
    std::string path;  ///< empty = nothing is kept
    long long capacity_bytes = 512LL << 20;
    int busy_timeout_ms = 2000;
    std::function<void(const std::string&)> warn;
  };
  explicit CubinStore(Options options);
  ~CubinStore();
  CubinStore(CubinStore&&) noexcept;
  CubinStore& operator=(CubinStore&&) noexcept;

  std::optional<StoredCubin> get(const Hash128& key);
  void put(const Hash128& key, const StoredCubin& cubin);  ///< evicts least recently used; never throws
  void clear();
  long long size_bytes() const;
  long long read_count() const;
  bool in_memory() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Where the two databases live. Order: $HEDDLE_DB (results) or $HEDDLE_CACHE (cubins); then
/// $XDG_DATA_HOME/heddle/results.db or $XDG_CACHE_HOME/heddle/cubins.db (absolute values only); then
/// ~/.local/share and ~/.cache under $HOME; then the passwd entry's home; else empty (memory only).
struct DatabasePaths {
  std::string results;
  std::string cubins;
};
/// Reads the environment, once, at the caller's request.
DatabasePaths default_database_paths();

}  // namespace heddle
