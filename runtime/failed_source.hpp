#pragma once

#include <string>

#include "generator/emit.hpp"

namespace heddle {

/// Saves what NVRTC refused, as one self-contained text, and returns the file's name; keeps the
/// last few only. Returns an empty name where the folder is empty or cannot be written: this helps
/// to explain an error and must not become one.
std::string save_failed_source(const std::string& folder, const KernelSource& source) noexcept;

}  // namespace heddle
