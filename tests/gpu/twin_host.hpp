#pragma once

#include "runtime/host/fault.hpp"
#include "runtime/host/host_compiler.hpp"
#include "tests/gpu/twin_case.hpp"

namespace heddle {

struct TwinResult {
  Bytes output;
  std::vector<HostFault> faults;
};

/// The host's half. The output begins as zeros.
TwinResult run_on_host(HostCompiler& compiler, const TwinCase& twin);

}  // namespace heddle
