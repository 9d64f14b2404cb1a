#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace heddle {

/// A program of its own, started by exec (neither CUDA nor SQLite survives a bare fork), with a
/// socket of ours as its standard input and in a process group of its own, so that Ctrl-C reaches
/// us and not it. Ends with this object, if need be by SIGKILL.
class ChildProcess {
 public:
  /// Throws kIo where it cannot be started.
  explicit ChildProcess(const std::string& program);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  int socket() const { return socket_; }
  pid_t id() const { return id_; }
  double cpu_seconds() const;        ///< used so far, of all its threads; 0 where it has ended
  long long resident_bytes() const;  ///< 0 where it has ended
  /// Ends it, and how it ended: by itself ("exited with code 7", "ended by signal 11 (Segmentation
  /// fault)") within a moment, else by us ("killed").
  std::string end();

 private:
  bool reap(int wait_ms);

  pid_t id_ = 0;
  int socket_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

}  // namespace heddle
