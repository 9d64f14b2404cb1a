#pragma once

#include <string>

#include "generator/problem.hpp"

namespace heddle {

struct NamedProblem {
  std::string name;
  Problem problem;
};

}  // namespace heddle
