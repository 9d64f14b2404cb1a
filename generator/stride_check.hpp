#pragma once

#include <optional>

#include "generator/problem.hpp"

namespace heddle {

/// Strides that a kernel could not honour: negative, overlapping in O, misaligned, or reaching past
/// 2^63 bytes. Part of reject_problem; the other fields are taken as checked.
///
/// Q, K and V are only read, so a stride of 0 (broadcast) and overlapping rows are fine there.
std::optional<Rejection> reject_strides(const Problem& problem);

}  // namespace heddle
