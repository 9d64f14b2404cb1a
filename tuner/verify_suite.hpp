#pragma once
// The correctness matrix that every family must pass on a GPU before a release.

#include <functional>
#include <string>
#include <vector>

#include "runtime/compiler.hpp"
#include "runtime/device.hpp"

namespace heddle {

struct SuiteOptions {
  std::vector<Family> families;  ///< empty = every family
  std::vector<DataType> dtypes{DataType::kBf16, DataType::kFp16, DataType::kE4m3};
  std::vector<int> head_dims{64, 96, 128, 256};
  std::vector<int> lengths{1, 7, 16, 17, 63, 64, 65, 127, 129, 257, 1000};
  std::vector<int> groups{1, 4, 7};  ///< query heads per KV head
  int splits = 3;                    ///< of the split-KV kernels
  std::uint64_t seed = 0;            ///< 0 = drawn afresh
  bool named_cases = true;           ///< the fault catalogue's inputs too
};

struct SuiteFailure {
  std::string what;  ///< problem and config
  std::string why;
};

struct SuiteReport {
  int checks = 0;
  std::uint64_t seed = 0;
  std::vector<SuiteFailure> failures;
};

/// Calls `progress(done, total)` now and then.
SuiteReport run_verify_suite(const Device& device, Compiler& compiler, const SuiteOptions& options,
                             const std::function<void(int, int)>& progress);

}  // namespace heddle
