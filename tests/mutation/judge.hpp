#pragma once
// Compiles a problem's kernels, with or without a mutant, runs them, and says what the product's
// own checks find.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "generator/architecture.hpp"
#include "runtime/host/attention.hpp"
#include "tests/mutation/mutant.hpp"
#include "tests/mutation/problems.hpp"

namespace heddle::mutation {

/// A problem with all that does not change from mutant to mutant.
struct PreparedProblem {
  SmallProblem small;
  Problem stated;  ///< what the results are compared with
  AttentionResult reference;
  AttentionResult baseline;
  AttentionResult clean_reference;
  std::vector<KernelSource> sources;
  std::set<std::string> headers;  ///< that its kernels include
  std::optional<HostRun> alike;   ///< by the config that gives the same bits

  /// Any is, if `family` is empty.
  bool is_of(const std::string& family) const {
    return family.empty() || enum_name(small.config.family) == family;
  }
};

class Judge {
 public:
  /// Of the problems whose name holds one of `names`, or all if there are none. Compiles none of
  /// the kernels that mutants change.
  explicit Judge(const std::vector<std::string>& names = {});

  const std::vector<PreparedProblem>& problems() const { return problems_; }
  /// The text of every mutable header that some kernel includes, by name.
  const std::map<std::string, std::string>& headers() const { return headers_; }

  /// Kernels of the problem with a mutant applied. Throws Error (kCompileFailed).
  HostConfig compile(const PreparedProblem& problem, const Mutant& mutant);
  /// What the checks find; empty = nothing.
  std::string check(const PreparedProblem& problem, const HostConfig& kernels) const;

 private:
  void prepare(SmallProblem small);
  std::optional<HostRun> run_alike(const SmallProblem& small);
  DeviceLimits limits_of(const SmallProblem& small) const;

  DeviceLimits limits_;
  HostCompiler compiler_;
  std::vector<PreparedProblem> problems_;
  std::map<std::string, std::string> headers_;
};

}  // namespace heddle::mutation
