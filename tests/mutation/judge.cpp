#include "tests/mutation/judge.hpp"

#include <algorithm>

#include "tests/mutation/attention_problem.hpp"
#include "tests/mutation/quantiser_problem.hpp"

namespace heddle::mutation {
namespace {

/// Kernels of a problem that each mutant's process compiles itself.
constexpr std::size_t kFewKernels = 3;

bool includes(const KernelSource& source, const std::string& header) {
  return std::any_of(source.headers.begin(), source.headers.end(),
                     [&](const SourceFile& file) { return file.name == header; });
}

}  // namespace

Judge::Judge(const std::vector<std::string>& names) {
  const auto is_asked = [&](const std::string& problem) {
    return names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
             return problem.find(name) != std::string::npos;
           });
  };
  for (SmallProblem& small : small_problems()) {
    if (is_asked(small.name)) add(std::make_unique<AttentionProblem>(std::move(small), compiler_));
  }
  for (SmallQuantiserProblem& small : small_quantiser_problems()) {
    if (is_asked(small.name)) add(std::make_unique<QuantiserProblem>(std::move(small)));
  }
}

void Judge::add(std::unique_ptr<const PreparedProblem> problem) {
  for (const KernelSource& source : problem->sources()) {
    for (const SourceFile& header : source.headers) {
      if (is_mutable(header.name)) headers_.emplace(header.name, header.text);
    }
  }
  problems_.push_back(std::move(problem));
}

HostKernels Judge::compile(const PreparedProblem& problem, const Mutant& mutant) {
  HostKernels kernels;
  for (KernelSource source : problem.sources()) {
    for (SourceFile& header : source.headers) {
      if (header.name == mutant.file) header.text = mutant.apply(header.text);
    }
    kernels.push_back(compiler_.compile(source));
  }
  return kernels;
}

void Judge::compile_unchanged(const PreparedProblem& problem, const Mutant& mutant) {
  if (problem.sources().size() <= kFewKernels) return;
  for (const KernelSource& source : problem.sources()) {
    if (!includes(source, mutant.file)) compiler_.compile(source);
  }
}

}  // namespace heddle::mutation
