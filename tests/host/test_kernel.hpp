#pragma once
// Kernels of tests/host/kernels/, compiled from their text and run by the host engine.

#include <memory>
#include <string>
#include <vector>

#include "runtime/host/host_compiler.hpp"
#include "runtime/host/launch.hpp"
#include "templates/tensor_map.cuh"
#include "tests/host/kernels/arguments.cuh"

namespace heddle {

/// The text of a file of tests/host/kernels/, and what else it includes, as emit() would give them.
KernelSource test_source(const std::string& file, const std::string& entry);

class TestKernels {
 public:
  /// `file` of tests/host/kernels/, with at least the kernel `entry`.
  TestKernels(HostCompiler& compiler, const std::string& file, const std::string& entry);

  struct Launch {
    HostGrid grid;
    KernelArguments arguments{};
    std::vector<HostBuffer> buffers;
    Schedule schedule;
  };
  /// Runs one of the text's kernels on this thread; findings come with their places.
  std::vector<HostFault> run(const std::string& entry, const Launch& launch) const;
  /// The line of the text that a finding's location names, "kernel.cu:12 < …".
  std::string line_of(const std::string& location) const;

 private:
  std::shared_ptr<const HostKernel> kernel_;
  std::vector<std::string> lines_;
};

/// All of them, for INFO().
std::string describe(const std::vector<HostFault>& faults);

}  // namespace heddle
