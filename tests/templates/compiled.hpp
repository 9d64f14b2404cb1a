#pragma once
// Kernels compiled by this machine's NVRTC, without any cache.

#include <stdexcept>
#include <string>

#include "runtime/compiler.hpp"
#include "tests/runtime/real_nvrtc.hpp"
#include "tests/testing/environment.hpp"

namespace heddle {

inline Nvrtc::Output compile_source(const KernelSource& source) {
  return real_nvrtc_or_skip()->compile(source, compile_options(source.architecture));
}

/// Whether this NVRTC can compile for the row; heddle's table is longer than an old NVRTC's.
inline bool is_supported(const DeviceLimits& limits) {
  const int number = limits.capability_major * 10 + limits.capability_minor;
  for (const int known : real_nvrtc_or_skip()->supported_architectures()) {
    if (known == number) return true;
  }
  return false;
}

/// Replaces the one occurrence of `from`; throws where it is not exactly one, since the test would
/// then test nothing.
inline void replace_once(std::string& text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos) {
    throw std::runtime_error("not exactly once in the text: " + from);
  }
  text.replace(at, from.size(), to);
}

inline std::string& header_text(KernelSource& source, const std::string& name) {
  for (SourceFile& header : source.headers) {
    if (header.name == name) return header.text;
  }
  throw std::runtime_error("the kernel does not reach " + name);
}

}  // namespace heddle
