#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/architecture.hpp"
#include "generator/kernel_config.hpp"
#include "runtime/testing/cases.hpp"
#include "runtime/testing/inputs.hpp"

namespace heddle {

/// One check of the suite.
struct HostSuiteRow {
  std::string label;
  Problem problem;
  KernelConfig config;
  InputKind kind = InputKind::kNormal;
  std::uint64_t seed = 0;
  std::shared_ptr<const CaseInput> named;  ///< null for random inputs

  HostTensors tensors() const;
};

/// Rows of a family that cover every pair of values; drawn with the seed.
std::vector<HostSuiteRow> pairwise_rows(Family family, const DeviceLimits& limits,
                                        std::uint64_t seed);

/// A named case under one config of the family, which the case's name picks; none where fa3 cannot
/// run it. Throws kNoLegalConfig where another family has none.
std::optional<HostSuiteRow> named_row(std::shared_ptr<const CaseInput> named, Family family,
                                      const DeviceLimits& limits);

}  // namespace heddle
