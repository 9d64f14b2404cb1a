#pragma once
// A second process that keeps the GPU busy: this program again, with an argument of its own.

#include <sys/types.h>

namespace heddle {

inline constexpr const char* kLoadArgument = "--load-gpu";

/// The second process's half: says when it is ready, then runs kernels until its input closes.
int load_gpu();

class LoadProcess {
 public:
  /// Returns when the GPU is under load; throws where that cannot be had.
  LoadProcess();
  ~LoadProcess();
  LoadProcess(const LoadProcess&) = delete;
  LoadProcess& operator=(const LoadProcess&) = delete;
  /// Whether it has been at work all the time.
  bool is_running() const;

 private:
  pid_t child_ = -1;
  int input_ = -1;
};

}  // namespace heddle
