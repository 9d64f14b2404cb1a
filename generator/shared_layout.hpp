#pragma once
// What a block keeps in shared memory, item by item: the kernels' SharedStorage as the host counts
// it. A kernel static_asserts the sum.

#include <array>
#include <string_view>

#include "generator/kernel_part.hpp"

namespace heddle {

struct SharedItem {
  std::string_view name;
  int copies = 0;  ///< slots, stages
  int bytes = 0;   ///< of each copy

  int total() const { return copies * bytes; }
};

/// No allocation: every launch plan asks.
struct SharedLayout {
  static constexpr int kMaxItems = 6;
  std::array<SharedItem, kMaxItems> items{};
  int count = 0;

  const SharedItem* begin() const { return items.data(); }
  const SharedItem* end() const { return items.data() + count; }
  /// An item of no bytes is left out.
  void add(std::string_view name, int copies, int bytes) {
    if (copies * bytes > 0) items[static_cast<std::size_t>(count++)] = {name, copies, bytes};
  }
  int total() const {
    int bytes = 0;
    for (const SharedItem& item : *this) bytes += item.total();
    return bytes;
  }
};

SharedLayout shared_layout(const Variant& variant, const KernelConfig& config, KernelPart part);

}  // namespace heddle
