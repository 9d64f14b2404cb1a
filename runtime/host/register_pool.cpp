#include "runtime/host/register_pool.hpp"

#include <fmt/format.h>

namespace heddle {

void RegisterPool::begin_block(int warpgroups, int per_thread) {
  per_thread_ = per_thread;
  free_ = 0;
  held_.assign(static_cast<std::size_t>(warpgroups), per_thread);
}

std::optional<std::string> RegisterPool::decrease(int warpgroup, int registers) {
  if (per_thread_ == 0) return std::nullopt;
  int& held = held_[static_cast<std::size_t>(warpgroup)];
  if (registers > held) {
    return fmt::format("setmaxnreg.dec to {} where {} are held", registers, held);
  }
  free_ += held - registers;
  held = registers;
  return std::nullopt;
}

std::optional<std::string> RegisterPool::check_increase(int warpgroup, int registers) const {
  const int held = held_[static_cast<std::size_t>(warpgroup)];
  if (per_thread_ == 0 || registers >= held) return std::nullopt;
  return fmt::format("setmaxnreg.inc to {} where {} are held", registers, held);
}

bool RegisterPool::increase(int warpgroup, int registers) {
  if (per_thread_ == 0) return true;
  int& held = held_[static_cast<std::size_t>(warpgroup)];
  if (registers - held > free_) return false;
  free_ -= registers - held;
  held = registers;
  return true;
}

std::string RegisterPool::describe(int warpgroup, int registers) const {
  return fmt::format(
      "waits for {} registers a thread and holds {} of them; the pool has {} (launched with {})",
      registers, held_[static_cast<std::size_t>(warpgroup)], free_, per_thread_);
}

}  // namespace heddle
