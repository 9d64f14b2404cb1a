#pragma once
// Which units have read a piece of shared memory, and when: matrix products and stores by TMA read
// on after the instruction has been issued.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/host/clocks.hpp"

namespace heddle {

class AsyncReads {
 public:
  static constexpr int kCell = 16;  ///< bytes; units read no less

  void reset(std::size_t bytes);
  bool any() const { return !stamps_.empty(); }

  /// A column for what `actor`, a unit, reads.
  int add_column(int actor);
  void mark(std::size_t cell, int column, Clock stamp) {
    stamps_[cell * columns_ + static_cast<std::size_t>(column)] = stamp;
  }

  struct Reader {
    int actor;
    Clock stamp;
  };
  /// A read of [offset, offset + bytes) that is not among what is `known`.
  std::optional<Reader> unknown(std::size_t offset, std::size_t bytes,
                                std::span<const Clock> known) const;

 private:
  static constexpr std::size_t kColumns = 16;  ///< for which there is room at first

  std::size_t cells_ = 0;
  std::size_t columns_ = kColumns;
  std::vector<int> actors_;    ///< of each column
  std::vector<Clock> stamps_;  ///< [cell][column]; 0 = never; empty until there is a column
};

}  // namespace heddle
