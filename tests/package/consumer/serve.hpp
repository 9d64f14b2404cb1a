#pragma once

#include <string>

/// What a context is to use: the fakes, and files of the test's own.
struct Files {
  std::string driver, nvrtc, cache, results;
};

struct Served {
  long long compiles = 0;
  std::string wrong;  ///< empty, or the first thing that was said or went wrong
};

constexpr int kKernels = 12;

/// Prepares kKernels problems in a context of its own; a CUDA context must be current.
Served serve(const Files& files);
