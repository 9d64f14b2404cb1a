#pragma once

#include <string>
#include <vector>

#include "generator/problem.hpp"

namespace heddle {

/// Where a wgmma finds its first operand; the second is in shared memory always.
enum class OperandSource { kShared, kRegisters };

/// One shape of `wgmma.mma_async`: m64, this n (a multiple of 8 up to 256), and a depth of 32
/// bytes.
struct WgmmaShape {
  int n = 0;
  OperandSource a = OperandSource::kShared;
};

/// The matrix instructions that a kernel uses.
struct InstructionRequest {
  DataType dtype = DataType::kBf16;
  bool mma = true;                ///< `mma.sync`
  std::vector<WgmmaShape> wgmma;  ///< each once
};

/// The text of instruction_forms.cuh for a kernel: exactly the matrix instructions it asks for, one
/// PTX instruction per function. On the host the same name resolves to the twin instead.
std::string instruction_forms(const InstructionRequest& request);

}  // namespace heddle
