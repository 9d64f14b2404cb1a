#pragma once
// The `heddle` command as a user runs it: a process with an environment of its own.

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "tests/runtime/temporary_folder.hpp"

namespace heddle {

struct ProcessResult {
  int code = -1;  ///< exit code; 128 + the signal that ended it
  std::string output;
  std::string errors;
  double processor_seconds = 0;  ///< user and system: what a busy machine does not inflate
};

/// An empty home folder and nothing in the environment but it and what is set here.
class HeddleProcess {
 public:
  HeddleProcess();
  std::map<std::string, std::string>& environment() { return environment_; }
  /// A file in the home folder.
  std::string path(const std::string& name) const { return (home_.path() / name).string(); }
  std::string write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;
  ProcessResult run(const std::vector<std::string>& arguments) const;
  /// The two halves of run(): one process at a time.
  pid_t start(const std::vector<std::string>& arguments) const;
  ProcessResult wait(pid_t child) const;

 private:
  TemporaryFolder home_{"heddle command"};
  std::map<std::string, std::string> environment_;
};

}  // namespace heddle
