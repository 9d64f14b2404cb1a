#pragma once
// What is known of a named case beyond the reference. Both say what is wrong, or nothing.

#include <string>
#include <vector>

#include "runtime/testing/cases.hpp"

namespace heddle {

/// What a kernel gave: O contiguous [batch, heads, seqlen_q, head_dim], LSE [batch, heads,
/// seqlen_q].
struct KernelResult {
  const std::vector<std::uint16_t>& output;
  const std::vector<float>& log_sum_exp;
};

/// The values worked out by hand.
std::string check_expected_rows(const CaseInput& input, const KernelResult& result);

/// Rows on which the reference does not tell the case from its clean twin have the same bits in
/// both runs of a kernel.
std::string check_clean_rows(const CaseInput& input, const KernelResult& odd,
                             const KernelResult& clean);

}  // namespace heddle
