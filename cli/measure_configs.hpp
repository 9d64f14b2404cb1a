#pragma once

#include <vector>

#include "cli/services.hpp"
#include "runtime/device.hpp"
#include "runtime/measure.hpp"
#include "runtime/testing/inputs.hpp"

namespace heddle {

/// Compiles the configs and times them, interleaved, on the same random inputs. What the compiler
/// has against one is only told.
std::vector<Timing> measure_configs(const Device& device, Compiler& compiler,
                                    const Problem& problem,
                                    const std::vector<KernelConfig>& configs, int samples,
                                    const InputOptions& inputs = {});

}  // namespace heddle
