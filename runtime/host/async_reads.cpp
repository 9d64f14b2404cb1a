#include "runtime/host/async_reads.hpp"

namespace heddle {

void AsyncReads::reset(std::size_t bytes) {
  cells_ = bytes / kCell + 1;
  actors_.clear();
  stamps_.clear();
}

int AsyncReads::add_column(int actor) {
  if (stamps_.empty()) stamps_.assign(cells_ * kMostColumns, 0);
  if (actors_.size() < kMostColumns) actors_.push_back(actor);
  return static_cast<int>(actors_.size()) - 1;
}

std::optional<AsyncReads::Reader> AsyncReads::unknown(std::size_t offset, std::size_t bytes,
                                                      std::span<const Clock> known) const {
  for (std::size_t cell = offset / kCell; cell <= (offset + bytes - 1) / kCell; ++cell) {
    const Clock* stamps = stamps_.data() + cell * kMostColumns;
    for (std::size_t column = 0; column < actors_.size(); ++column) {
      const auto actor = static_cast<std::size_t>(actors_[column]);
      const Clock seen = actor < known.size() ? known[actor] : 0;
      if (stamps[column] > seen) return Reader{actors_[column], stamps[column]};
    }
  }
  return std::nullopt;
}

}  // namespace heddle
