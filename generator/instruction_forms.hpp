#pragma once

#include <string>

#include "generator/problem.hpp"

namespace heddle {

/// The text of instruction_forms.cuh for a kernel over `dtype`: exactly the matrix instructions it
/// uses, one PTX instruction per function. On the host the same name resolves to the twin instead.
std::string instruction_forms(DataType dtype);

}  // namespace heddle
