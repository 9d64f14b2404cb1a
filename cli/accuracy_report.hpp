#pragma once

#include <cstdint>

namespace heddle {

class ProblemFlags;

/// `heddle bench --suite fp8-accuracy`: needs no GPU. The problem flags may say the sizes and
/// head_dim. Returns the exit code.
int run_accuracy_suite(const ProblemFlags& flags, bool as_json);

}  // namespace heddle
