#pragma once
// A small problem of the quantiser, whose results are compared with those of its float64 reference.

#include <string>
#include <vector>

#include "tests/mutation/prepared_problem.hpp"
#include "tests/testing/quantised.hpp"

namespace heddle::mutation {

struct SmallQuantiserProblem {
  std::string name;
  QuantiserCase subject;
  InputNumbers numbers;
};

/// The cheap ones that catch most come first.
std::vector<SmallQuantiserProblem> small_quantiser_problems();

class QuantiserProblem : public PreparedProblem {
 public:
  explicit QuantiserProblem(SmallQuantiserProblem small);

  std::string check(const HostKernels& kernels) const override;

 private:
  SmallQuantiserProblem small_;
  QuantiserConfigs configs_;
  HostTensors inputs_;
};

}  // namespace heddle::mutation
