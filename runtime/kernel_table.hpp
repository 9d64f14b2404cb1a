#pragma once
// The hot path's memory: which kernels serve a (context, variant, size bucket).

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "generator/bucket.hpp"
#include "runtime/driver.hpp"

namespace heddle {

/// What a launch is told apart by. Variants that need more than this are not served yet.
struct KernelKey {
  DriverContext context = nullptr;
  SizeBucket bucket;
  int head_dim = 0;
  std::uint8_t dtype = 0;
  std::uint8_t mask = 0;
  std::uint8_t alignment = 0;
  std::uint8_t output_dtype = 0;  ///< these three tell e4m3 inputs apart
  std::uint8_t scales = 0;
  std::uint8_t value_layout = 0;
  bool must_split = false;  ///< the caller asked for two or more splits

  bool operator==(const KernelKey& other) const noexcept;
  std::uint64_t hash() const noexcept;
};

KernelKey kernel_key(const Problem& problem, DriverContext context) noexcept;

struct KernelEntry;

/// Readers never wait: they probe an array of atomic pointers that writers only ever add to. A full
/// array is replaced by a larger copy; the old one is kept for readers that still walk it (all of
/// them together are smaller than the last), as are entries that were replaced.
class KernelTable {
 public:
  KernelTable();
  ~KernelTable();
  KernelTable(const KernelTable&) = delete;
  KernelTable& operator=(const KernelTable&) = delete;

  const KernelEntry* find(const KernelKey& key) const noexcept;
  /// Takes the place of an entry of the same key.
  const KernelEntry& insert(std::unique_ptr<const KernelEntry> entry);

 private:
  struct Slots;
  using Slot = std::atomic<const KernelEntry*>;
  static Slot& probe(const Slots& slots, const KernelKey& key) noexcept;
  void grow();

  std::atomic<const Slots*> slots_;
  std::mutex mutex_;  ///< writers only
  std::size_t used_ = 0;
  std::vector<std::unique_ptr<const Slots>> generations_;
  std::vector<std::unique_ptr<const KernelEntry>> entries_;
};

}  // namespace heddle
