#pragma once

#include <string>
#include <vector>

namespace heddle {

struct ProcessResult {
  int exit_code = -1;  ///< -1: it did not start, or a signal ended it
  std::string output;  ///< what it wrote to stdout and stderr
};

/// Runs a program (found on PATH if it has no slash) and waits. No shell is involved.
ProcessResult run_process(const std::vector<std::string>& arguments);

}  // namespace heddle
