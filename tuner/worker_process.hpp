#pragma once
// The tuner's side of one worker.

#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runtime/compiler.hpp"
#include "tuner/child_process.hpp"
#include "tuner/message_channel.hpp"

namespace heddle {

/// What a worker needs to know of its surroundings.
struct WorkerSetup {
  std::string program;      ///< heddle_tune_worker; empty = none, work in this process
  std::string driver_path;  ///< as Driver::load takes it
  int device = 0;
  Compiler::Options compiler;
};

/// The worker is gone and so is what it was asked.
struct WorkerLost : std::runtime_error {
  enum class Why { kEnded, kTimedOut, kTooMuchMemory, kInterrupted };
  WorkerLost(Why reason, const std::string& message) : std::runtime_error(message), why(reason) {}
  Why why;
};

/// How long to wait for an answer.
struct Patience {
  double seconds = 10;  ///< since the last message
  /// Of processor time: what a busy machine does not stretch.
  double cpu_seconds = std::numeric_limits<double>::infinity();
  long long memory_bytes = std::numeric_limits<long long>::max();
  std::function<bool()> interrupted;
  std::function<void(const nlohmann::json&)> note;  ///< of messages before the answer
};

class WorkerProcess {
 public:
  /// Starts it and waits until it is ready. Throws Error where it cannot.
  explicit WorkerProcess(const WorkerSetup& setup);

  /// Throws WorkerLost, and the Error that the worker answers. After WorkerLost it is of no use.
  nlohmann::json ask(const nlohmann::json& request, const Patience& patience);

 private:
  [[noreturn]] void lose(WorkerLost::Why why, const std::string& message);
  void check_patience(const Patience& patience, double cpu_before);

  ChildProcess process_;
  MessageChannel channel_;
};

}  // namespace heddle
