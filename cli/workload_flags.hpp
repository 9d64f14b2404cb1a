#pragma once

#include <string>
#include <vector>

#include "cli/flags.hpp"
#include "cli/model_flags.hpp"

namespace heddle {

/// The problems a verb works through: one by its flags, a model's, or those of a workload file.
class WorkloadFlags {
 public:
  void add_to(CLI::App& app);
  /// Whether a file was given.
  bool has_file() const { return !file_.empty(); }
  /// Whether any problem was asked for.
  bool any_given() const { return has_file() || problem_.any_given() || model_.given(); }
  const ProblemFlags& problem() const { return problem_; }
  /// Throws kInvalidArgument or kUnsupported, and for more than one of the three.
  std::vector<NamedProblem> problems() const;

 private:
  ProblemFlags problem_;
  ModelFlags model_;
  std::string file_;
};

}  // namespace heddle
