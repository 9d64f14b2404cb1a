#pragma once
// One CUDA thread: a stack and a place to go on. Boost.Context switches; the address sanitizer is
// told of each switch.

#include <cstddef>
#include <functional>
#include <memory>

namespace heddle {

/// Stacks of equal size, each above a page that nobody may touch.
class StackPool {
 public:
  StackPool(int count, std::size_t bytes);
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  int count() const { return count_; }
  std::size_t bytes() const { return bytes_; }
  char* low(int index) const;  ///< lowest usable address

 private:
  int count_;
  std::size_t bytes_;
  std::size_t pitch_;
  char* memory_;
};

class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(Fiber&&) noexcept;

  /// Prepares to run `body` on a stack. A body begun before and not finished is abandoned: its
  /// stack is used again and nothing on it is destroyed.
  void start(char* stack_low, std::size_t stack_bytes, std::function<void()> body);
  /// Runs until the body suspends or ends.
  void resume();
  /// Only inside the body: back to whoever called resume().
  void suspend();
  bool done() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle
