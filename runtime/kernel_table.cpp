#include "runtime/kernel_table.hpp"

#include <bit>

#include "runtime/kernel_entry.hpp"

namespace heddle {
namespace {

constexpr std::size_t kInitialSlots = 64;

/// The finaliser of MurmurHash3: every input bit reaches every output bit.
constexpr std::uint64_t mix(std::uint64_t value) noexcept {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccdULL;
  value ^= value >> 33;
  value *= 0xc4ceb9fe1a85ec53ULL;
  return value ^ (value >> 33);
}

constexpr std::uint64_t pack(int high, int low) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32 |
         static_cast<std::uint32_t>(low);
}

}  // namespace

struct KernelTable::Slots {
  explicit Slots(std::size_t count) : mask(count - 1), slot(new Slot[count]()) {}
  std::size_t mask;  ///< count - 1; count is a power of two and at most half of it is used
  std::unique_ptr<Slot[]> slot;
};

bool KernelKey::operator==(const KernelKey& other) const noexcept {
  return context == other.context && bucket == other.bucket && head_dim == other.head_dim &&
         dtype == other.dtype && mask == other.mask && alignment == other.alignment &&
         output_dtype == other.output_dtype && scales == other.scales &&
         value_layout == other.value_layout && must_split == other.must_split;
}

std::uint64_t KernelKey::hash() const noexcept {
  const int kind = dtype << 24 | mask << 16 | alignment << 8 | (must_split ? 1 : 0);
  std::uint64_t state = mix(std::bit_cast<std::uintptr_t>(context));
  state = mix(state ^ pack(bucket.sequences, bucket.group));
  state = mix(state ^ pack(bucket.seqlen_q, bucket.seqlen_kv));
  const int form = output_dtype << 16 | scales << 8 | value_layout;
  return mix(state ^ pack(head_dim ^ (form << 9), kind));
}

KernelKey kernel_key(const Problem& problem, DriverContext context) noexcept {
  return {.context = context,
          .bucket = bucket_of(problem.sizes),
          .head_dim = problem.variant.head_dim,
          .dtype = static_cast<std::uint8_t>(problem.variant.dtype),
          .mask = static_cast<std::uint8_t>(problem.variant.mask),
          .alignment = static_cast<std::uint8_t>(problem.variant.alignment),
          .output_dtype = static_cast<std::uint8_t>(problem.variant.output_dtype),
          .scales = static_cast<std::uint8_t>(problem.variant.scales),
          .value_layout = static_cast<std::uint8_t>(problem.variant.value_layout),
          .must_split = problem.sizes.num_splits > 1};
}

KernelTable::KernelTable() {
  generations_.push_back(std::make_unique<const Slots>(kInitialSlots));
  slots_.store(generations_.back().get(), std::memory_order_release);
}

KernelTable::~KernelTable() = default;

/// The slot that holds the key, or the empty one where it belongs. There always is an empty one.
KernelTable::Slot& KernelTable::probe(const Slots& slots, const KernelKey& key) noexcept {
  for (std::size_t index = key.hash();; ++index) {
    Slot& slot = slots.slot[index & slots.mask];
    const KernelEntry* entry = slot.load(std::memory_order_acquire);
    if (entry == nullptr || entry->key == key) return slot;
  }
}

const KernelEntry* KernelTable::find(const KernelKey& key) const noexcept {
  const Slots& slots = *slots_.load(std::memory_order_acquire);
  const KernelEntry* entry = probe(slots, key).load(std::memory_order_acquire);
  return entry != nullptr && !entry->stale.load(std::memory_order_relaxed) ? entry : nullptr;
}

const KernelEntry& KernelTable::insert(std::unique_ptr<const KernelEntry> entry) {
  const std::lock_guard lock(mutex_);
  entries_.push_back(std::move(entry));
  const KernelEntry& added = *entries_.back();
  if (2 * (used_ + 1) > generations_.back()->mask) grow();
  Slot& slot = probe(*generations_.back(), added.key);
  if (slot.load(std::memory_order_relaxed) == nullptr) ++used_;
  slot.store(&added, std::memory_order_release);
  return added;
}

void KernelTable::grow() {
  const Slots& old = *generations_.back();
  auto larger = std::make_unique<const Slots>(2 * (old.mask + 1));
  for (std::size_t index = 0; index <= old.mask; ++index) {
    const KernelEntry* entry = old.slot[index].load(std::memory_order_relaxed);
    if (entry != nullptr) probe(*larger, entry->key).store(entry, std::memory_order_relaxed);
  }
  generations_.push_back(std::move(larger));
  slots_.store(generations_.back().get(), std::memory_order_release);
}

}  // namespace heddle
