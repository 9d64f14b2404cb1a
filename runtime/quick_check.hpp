#pragma once

#include "generator/problem.hpp"

namespace heddle {

/// True when dtype, head_dim, mask, alignment and what belongs to e4m3 inputs tell the variant
/// apart: everything else is neutral.
bool is_plain(const Variant& variant) noexcept;

/// The hot path's stand-in for reject_problem: true only for problems that it accepts too, in plain
/// arithmetic without memory; strides are judged for an alignment of 2 bytes. False = ask
/// reject_problem, which may still accept (an empty problem, enormous strides).
bool surely_valid(const Problem& problem) noexcept;

/// Throws for what is wrong or unsupported. Sets the alignment to 2 bytes, which admits any stride
/// of 16-bit elements: the true one is known once the addresses are.
void require_valid(Problem& problem);

}  // namespace heddle
