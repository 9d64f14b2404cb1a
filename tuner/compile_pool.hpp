#pragma once

#include <functional>
#include <vector>

#include "tuner/tuner.hpp"

namespace heddle {

/// Compiles every candidate on several threads; a failure becomes the candidate's `failure`, never
/// an exception, except for what stops all of them (no NVRTC). `done` is told after each, one call
/// at a time.
void compile_candidates(const TuneTarget& target, const Variant& variant,
                        std::vector<Candidate>& candidates, const TuneOptions& options);

}  // namespace heddle
