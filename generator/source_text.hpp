#pragma once
// Text operations on CUDA source that need no parser: our own headers are plain.

#include <string>
#include <string_view>
#include <vector>

#include "generator/emit.hpp"

namespace heddle {

/// Names in `#include "name"` lines, in order.
std::vector<std::string> included_names(std::string_view text);

/// `main` with each include replaced by the header's text, every header once, no #pragma once left.
/// Throws kInternal for an include that is not among the headers.
std::string inline_includes(const SourceFile& main, const std::vector<SourceFile>& headers);

/// Without comments, blank lines and trailing spaces; string literals are kept as they are.
std::string strip_comments(std::string_view text);

}  // namespace heddle
