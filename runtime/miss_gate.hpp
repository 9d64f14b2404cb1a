#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/kernel_table.hpp"

namespace heddle {

/// Lets one thread at a time choose and load the kernels of a key. A thread that is already doing
/// so for some key (it came back through a miss callback) never waits: two such threads could wait
/// for each other.
class MissGate {
 public:
  class Turn {
   public:
    Turn(MissGate& gate, const KernelKey& key);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    /// Inside another turn of the same thread.
    bool is_nested() const noexcept { return is_nested_; }

   private:
    MissGate& gate_;
    bool is_nested_ = false;
  };

 private:
  struct Work {
    KernelKey key;
    std::thread::id thread;
  };
  bool is_busy(const KernelKey& key) const;
  bool is_working(std::thread::id thread) const;

  std::mutex mutex_;
  std::condition_variable finished_;
  std::vector<Work> work_;
};

}  // namespace heddle
