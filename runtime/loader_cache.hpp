#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// The files that the dynamic loader's cache (/etc/ld.so.cache) lists for a soname, best first.
/// Empty where the cache is absent, of another format, or damaged.
///
/// Why not just dlopen: loading libnvrtc takes 6 to 12 ms, more than a whole hit in the cubin cache
/// may take, and a hit needs only to know which file it would be.
std::vector<std::string> loader_cache_paths(const std::string& cache_file, std::string_view soname);

}  // namespace heddle
