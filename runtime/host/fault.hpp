#pragma once

#include <string>
#include <string_view>

#include "generator/field.hpp"

namespace heddle {

/// What a kernel did that a GPU would punish, perhaps only sometimes.
enum class FaultKind {
  kOutOfBounds,      ///< touched memory that belongs to no tensor and not to the block
  kMisaligned,       ///< an access at an address that its width does not divide
  kReadOnly,         ///< wrote to an input
  kDataRace,         ///< two threads of a block, one writing, with nothing to order them
  kBlockRace,        ///< two blocks, one writing
  kCopyInFlight,     ///< touched what an asynchronous copy has not been waited for
  kProxy,            ///< the async proxy met a generic write without a proxy fence
  kOperandInFlight,  ///< touched an operand of a matrix instruction that has not been waited for
  kDivergence,       ///< the lanes of a warp did not meet in one instruction
  kBarrierMisuse,    ///< threads disagree about a barrier, or it was overrun
  kTransaction,      ///< bytes that arrived are not the bytes expected
  kDeadlock,         ///< nobody can go on
  kRegisterPool,     ///< setmaxnreg asks for what the pool does not hold
  kStackOverflow,    ///< more local memory than a fiber has
};
template <>
struct EnumNames<FaultKind> {
  static constexpr std::array names{
      std::pair{FaultKind::kOutOfBounds, std::string_view("out of bounds")},
      std::pair{FaultKind::kMisaligned, std::string_view("misaligned access")},
      std::pair{FaultKind::kReadOnly, std::string_view("write to an input")},
      std::pair{FaultKind::kDataRace, std::string_view("data race")},
      std::pair{FaultKind::kBlockRace, std::string_view("race between blocks")},
      std::pair{FaultKind::kCopyInFlight, std::string_view("copy in flight")},
      std::pair{FaultKind::kProxy, std::string_view("missing proxy fence")},
      std::pair{FaultKind::kOperandInFlight, std::string_view("operand in flight")},
      std::pair{FaultKind::kDivergence, std::string_view("divergent warp")},
      std::pair{FaultKind::kBarrierMisuse, std::string_view("barrier misuse")},
      std::pair{FaultKind::kTransaction, std::string_view("transaction bytes")},
      std::pair{FaultKind::kDeadlock, std::string_view("deadlock")},
      std::pair{FaultKind::kRegisterPool, std::string_view("register pool")},
      std::pair{FaultKind::kStackOverflow, std::string_view("stack overflow")}};
};

/// One finding. `where` is a code address while the kernel runs and a source line in a report.
struct HostFault {
  FaultKind kind{};
  int block = 0;
  int warp = -1;  ///< -1: not of one warp
  int lane = -1;
  const void* where = nullptr;  ///< code address, of the kernel's shared object
  const void* other = nullptr;  ///< the place it collides with, where there is one
  std::string text;             ///< in words, without the place
  std::string location;         ///< "part/softmax.cuh:57 (kernel/fa2.cuh:170)", once resolved
  std::string other_location;

  /// "data race: block 3, warp 1, lane 7, part/…:57: …"
  std::string describe() const;
};

}  // namespace heddle
