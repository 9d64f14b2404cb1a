#pragma once

#include <cstdio>
#include <cstdlib>

#include "generator/error.hpp"
#include "runtime/compiler.hpp"

namespace heddle {

/// This machine's NVRTC. Where there is none the whole test program ends as "skipped" (77), with
/// the reason on its output.
inline std::shared_ptr<const Nvrtc> real_nvrtc_or_skip() {
  try {
    return Nvrtc::load("");
  } catch (const Error& error) {
    std::printf("skipped: %s\n", error.what());
    std::exit(77);
  }
}

}  // namespace heddle
