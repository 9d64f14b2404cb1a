#pragma once
// The problems, the headers that their kernels include, and the kernels with or without a mutant.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/mutation/mutant.hpp"
#include "tests/mutation/prepared_problem.hpp"

namespace heddle::mutation {

class Judge {
 public:
  /// Of the problems whose name holds one of `names`, or all if there are none. Compiles none of
  /// the kernels that mutants change.
  explicit Judge(const std::vector<std::string>& names = {});

  const std::vector<std::unique_ptr<const PreparedProblem>>& problems() const { return problems_; }
  /// The text of every mutable header that some kernel includes, by name.
  const std::map<std::string, std::string>& headers() const { return headers_; }

  /// Kernels of the problem with a mutant applied. Throws Error (kCompileFailed).
  HostKernels compile(const PreparedProblem& problem, const Mutant& mutant);
  /// Compiles those of the problem's kernels that the mutant leaves as they are, if it has so many
  /// that this pays: processes that fork from here need not.
  void compile_unchanged(const PreparedProblem& problem, const Mutant& mutant);

 private:
  void add(std::unique_ptr<const PreparedProblem> problem);

  HostCompiler compiler_;
  std::vector<std::unique_ptr<const PreparedProblem>> problems_;
  std::map<std::string, std::string> headers_;
};

}  // namespace heddle::mutation
