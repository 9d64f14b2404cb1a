#pragma once
// Judges mutants, each in a child process of its own: a kernel that crashes or never ends is caught
// too, but a process that dies otherwise is no verdict.

#include <functional>
#include <string>
#include <vector>

#include "tests/mutation/judge.hpp"

namespace heddle::mutation {

enum class Outcome {
  kKilled,     ///< a check found it
  kCrashed,    ///< the mutated kernel ended its process
  kOutOfTime,  ///< the mutated kernel ran too long
  kSurvived,
  kStillborn,  ///< the compiler refused its text
  kUnjudged    ///< the trial itself failed: says nothing about the mutant
};

struct Verdict {
  Outcome outcome = Outcome::kSurvived;
  std::string problem;  ///< that killed it
  std::string reason;
  double seconds = 0;
};

struct TrialOptions {
  int jobs = 1;
  std::string family;  ///< only this family's problems; empty = all
  /// Of a check of one problem; each takes a small part of it. CPU time: a busy machine does not
  /// shorten it.
  double cpu_seconds = 15;
};

/// Calls `report` with the mutant's index as each verdict comes in. Throws Error when a problem
/// that has caught a mutant fails a check without one.
void judge_mutants(Judge& judge, const std::vector<Mutant>& mutants, const TrialOptions& options,
                   const std::function<void(std::size_t, const Verdict&)>& report);

}  // namespace heddle::mutation
