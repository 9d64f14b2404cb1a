#pragma once
// The correctness matrix on the CPU: what `heddle verify --suite --device host` and the host tier
// of the tests run.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/host/verify.hpp"

namespace heddle {

struct HostSuiteOptions {
  std::vector<Family> families;  ///< empty = unfused, fa1, fa2, fa3
  std::uint64_t seed = 0;        ///< draws configs, sizes and inputs
  /// Every nth row of the pairwise table (1 = all of it).
  int stride = 1;
  bool named_cases = true;  ///< the fault catalogue's inputs too
  int cores = 0;            ///< 0 = all of this machine's
};

struct HostSuiteFailure {
  std::string what;  ///< problem, config, inputs
  std::string why;
};

struct HostSuiteReport {
  int kernels = 0;
  int checks = 0;
  std::vector<HostSuiteFailure> failures;
};

/// Rows in which any two of: tile sizes, warps and the other knobs, element type, mask take every
/// pair of values that is legal together, and head dim, layout, lengths, heads per KV head, splits
/// and kind of inputs every value; then the named cases, each under one config of every family.
/// `progress(done, total)` is called by one thread at a time.
HostSuiteReport run_host_suite(HostCompiler& compiler, const DeviceLimits& limits,
                               const HostSuiteOptions& options,
                               const std::function<void(int, int)>& progress);

}  // namespace heddle
