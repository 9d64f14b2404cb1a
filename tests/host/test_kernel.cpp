#include "tests/host/test_kernel.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "generator/instruction_forms.hpp"
#include "generator/template_library.hpp"

namespace heddle {
namespace {

std::string read(const std::string& name) {
  std::ifstream file(std::string(HEDDLE_TEST_KERNELS) + "/" + name, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

KernelSource test_source(const std::string& file, const std::string& entry) {
  KernelSource source;
  source.entry = entry;
  source.architecture = "sm_90a";
  source.main = {file, read(file)};
  for (const char* header : {"arguments.cuh", "softmax_record.cuh"}) {
    source.headers.push_back({header, read(header)});
  }
  for (const EmbeddedTemplate& header : embedded_templates()) {
    source.headers.push_back({std::string(header.name), std::string(header.text)});
  }
  InstructionRequest forms;
  forms.wgmma = {{64, OperandSource::kShared}, {64, OperandSource::kRegisters}};
  source.headers.push_back({"instruction_forms.cuh", instruction_forms(forms)});
  return source;
}

TestKernels::TestKernels(HostCompiler& compiler, const std::string& file, const std::string& entry)
    : kernel_(compiler.compile(test_source(file, entry))) {
  std::istringstream text(read(file));
  for (std::string line; std::getline(text, line);) lines_.push_back(line);
}

std::string TestKernels::line_of(const std::string& location) const {
  constexpr std::string_view kFile = "kernel.cu:";
  const auto at = location.find(kFile);
  if (at == std::string::npos) return "";
  const int number = std::atoi(location.c_str() + at + kFile.size());
  return number < 1 || number > static_cast<int>(lines_.size())
             ? ""
             : lines_[static_cast<std::size_t>(number - 1)];
}

std::string describe(const std::vector<HostFault>& faults) {
  std::string text;
  for (const HostFault& fault : faults) text += fault.describe() + '\n';
  return text;
}

std::vector<HostFault> TestKernels::run(const std::string& entry, const Launch& launch) const {
  const auto function = reinterpret_cast<void (*)(KernelArguments)>(kernel_->symbol(entry));
  if (function == nullptr) throw std::runtime_error("no kernel " + entry);
  MemoryMap map(launch.buffers);
  map.add_image(reinterpret_cast<const void*>(function));
  const BlockRun::Program program{[&] { function(launch.arguments); },
                                  [&](const host::ThreadState* state) { kernel_->enter(state); }};
  auto faults = launch_on_host(launch.grid, map, program, {launch.schedule, 1});
  for (HostFault& fault : faults) {
    fault.location = kernel_->locate(fault.where);
    fault.other_location = kernel_->locate(fault.other);
  }
  return faults;
}

}  // namespace heddle
