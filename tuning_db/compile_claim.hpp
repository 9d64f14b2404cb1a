#pragma once

#include <chrono>
#include <string>

#include "generator/hash.hpp"

namespace heddle {

/// While one process compiles a kernel for a cache, others that want it wait for what it finds. A
/// lock on one byte of a file beside the cache, at a place that the key tells: it ends with the
/// process, however that ends. Who has it looks into the cache again. Where there can be no such
/// lock, nobody waits. Never throws.
class CompileClaim {
 public:
  /// Waits until no other holds the claim, but no longer than `patience`. `cache_path` empty = a
  /// cache in memory, which nobody shares.
  CompileClaim(const std::string& cache_path, const Hash128& key,
               std::chrono::milliseconds patience) noexcept;
  ~CompileClaim();
  CompileClaim(const CompileClaim&) = delete;
  CompileClaim& operator=(const CompileClaim&) = delete;

  /// Another had it at first.
  bool had_to_wait() const { return had_to_wait_; }

 private:
  int descriptor_ = -1;
  bool had_to_wait_ = false;
};

}  // namespace heddle
