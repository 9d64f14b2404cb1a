#include "runtime/host/async_reads.hpp"

namespace heddle {

void AsyncReads::reset(std::size_t bytes) {
  cells_ = bytes / kCell + 1;
  actors_.clear();
  stamps_.clear();
}

int AsyncReads::add_column(int actor) {
  if (stamps_.empty()) {
    columns_ = kColumns;
    stamps_.assign(cells_ * columns_, 0);
  } else if (actors_.size() == columns_) {
    std::vector<Clock> wider(2 * stamps_.size(), 0);
    for (std::size_t i = 0; i < stamps_.size(); ++i) {
      wider[i / columns_ * 2 * columns_ + i % columns_] = stamps_[i];
    }
    stamps_ = std::move(wider);
    columns_ *= 2;
  }
  actors_.push_back(actor);
  return static_cast<int>(actors_.size()) - 1;
}

std::optional<AsyncReads::Reader> AsyncReads::unknown(std::size_t offset, std::size_t bytes,
                                                      std::span<const Clock> known) const {
  for (std::size_t cell = offset / kCell; cell <= (offset + bytes - 1) / kCell; ++cell) {
    const Clock* stamps = stamps_.data() + cell * columns_;
    for (std::size_t column = 0; column < actors_.size(); ++column) {
      const auto actor = static_cast<std::size_t>(actors_[column]);
      const Clock seen = actor < known.size() ? known[actor] : 0;
      if (stamps[column] > seen) return Reader{actors_[column], stamps[column]};
    }
  }
  return std::nullopt;
}

}  // namespace heddle
