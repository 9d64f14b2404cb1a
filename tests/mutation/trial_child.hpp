#pragma once
// A child process that runs the problems of a trial one after the other, with one mutant or none.

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/mutation/trial.hpp"

namespace heddle::mutation {

/// The problems in their order.
using Trial = std::vector<const PreparedProblem*>;

/// Of a child that runs a problem without a mutant.
constexpr std::size_t kNoMutant = static_cast<std::size_t>(-1);

struct Child {
  pid_t process = 0;
  int pipe = -1;
  std::size_t mutant = kNoMutant;
  std::string folder;  ///< its temporary files
  std::string output;
  std::chrono::steady_clock::time_point begin;
};

/// `cpu_seconds`: of each problem's checks.
Child start_child(Judge& judge, const Mutant& mutant, std::size_t index, const Trial& trial,
                  double cpu_seconds);

/// Waits for output; true when the child has closed its end.
bool read_some(Child& child);

Verdict finish_child(const Child& child);

}  // namespace heddle::mutation
