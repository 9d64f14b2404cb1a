#pragma once
// A seam for tests: candidates that fail in a known way, to see the tuner reject them, on a GPU or
// on a fake one. Each is the default fa2 kernel with one thing changed.

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "generator/emit.hpp"
#include "generator/field.hpp"

namespace heddle {

enum class BadKind {
  kNeverWrites,
  kSkipsLastTile,
  kWritesPastEnd,
  kIllegalAddress,
  kTrap,
  kInfiniteLoop,
  kWrongLse,
  kTooMuchShared,
  kCompilesForMinutes,
  kEndsProcess,
};
template <>
struct EnumNames<BadKind> {
  static constexpr std::array names{
      std::pair{BadKind::kNeverWrites, std::string_view("never_writes")},
      std::pair{BadKind::kSkipsLastTile, std::string_view("skips_last_tile")},
      std::pair{BadKind::kWritesPastEnd, std::string_view("writes_past_end")},
      std::pair{BadKind::kIllegalAddress, std::string_view("illegal_address")},
      std::pair{BadKind::kTrap, std::string_view("trap")},
      std::pair{BadKind::kInfiniteLoop, std::string_view("infinite_loop")},
      std::pair{BadKind::kWrongLse, std::string_view("wrong_lse")},
      std::pair{BadKind::kTooMuchShared, std::string_view("too_much_shared")},
      std::pair{BadKind::kCompilesForMinutes, std::string_view("compiles_for_minutes")},
      std::pair{BadKind::kEndsProcess, std::string_view("ends_process")}};
};

/// What kTooMuchShared asks for: more than any GPU has.
constexpr int kTooMuchSharedBytes = 300 * 1024;

/// Turns fa2's text into one that fails like this; its entry becomes heddle_bad_KIND. On a real GPU
/// kEndsProcess traps as kTrap does; the fake one ends the process that launched it.
void spoil(KernelSource& source, BadKind kind);

}  // namespace heddle
