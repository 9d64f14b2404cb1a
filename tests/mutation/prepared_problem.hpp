#pragma once
// A problem with all that does not change from mutant to mutant.

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "generator/emit.hpp"
#include "runtime/host/host_compiler.hpp"

namespace heddle::mutation {

using HostKernels = std::vector<std::shared_ptr<const HostKernel>>;

/// layout.cuh, part/, kernel/ and their like. The instruction layer has twins instead of mutants.
bool is_mutable(const std::string& header);

class PreparedProblem {
 public:
  virtual ~PreparedProblem() = default;
  PreparedProblem(const PreparedProblem&) = delete;
  PreparedProblem& operator=(const PreparedProblem&) = delete;

  const std::string& name() const { return name_; }
  const std::string& family() const { return family_; }
  /// Any is, if `family` is empty.
  bool is_of(const std::string& family) const { return family.empty() || family_ == family; }

  /// Its kernels without a mutant.
  const std::vector<KernelSource>& sources() const { return sources_; }
  /// The mutable ones that its kernels include.
  const std::set<std::string>& headers() const { return headers_; }

  /// What the product's own checks find; empty = nothing. `kernels` are those of the sources, with
  /// or without a mutant.
  virtual std::string check(const HostKernels& kernels) const = 0;

 protected:
  PreparedProblem(std::string name, std::string family)
      : name_(std::move(name)), family_(std::move(family)) {}
  void add(KernelSource source);

 private:
  std::string name_;
  std::string family_;
  std::vector<KernelSource> sources_;
  std::set<std::string> headers_;
};

}  // namespace heddle::mutation
