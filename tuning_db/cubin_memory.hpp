#pragma once

#include <map>
#include <optional>

#include "tuning_db/cubin_store.hpp"

namespace heddle {

/// Cubins of this process while no file takes them. Bounded: the oldest go first.
class CubinMemory {
 public:
  explicit CubinMemory(long long capacity_bytes);

  std::optional<StoredCubin> get(const Hash128& key) const;
  void put(const Hash128& key, const StoredCubin& cubin);
  void erase(const Hash128& key);
  void clear();
  long long size_bytes() const { return size_bytes_; }

 private:
  struct Entry {
    StoredCubin cubin;
    long long order = 0;
  };
  void erase_oldest();

  std::map<Hash128, Entry> entries_;
  long long capacity_bytes_;
  long long size_bytes_ = 0;
  long long next_order_ = 0;
};

}  // namespace heddle
