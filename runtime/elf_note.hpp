#pragma once
// The build id that the linker stamps into a library: its identity, whatever it is called.

#include <optional>
#include <string>

namespace heddle {

/// Build id in hexadecimal (empty: the library has none) of a file, without loading it. Nullopt
/// where the file is absent or no shared library for this machine.
std::optional<std::string> file_build_id(const std::string& path);

/// The same of the loaded library that contains this address: what is really in use, even after the
/// file was replaced by an upgrade.
std::string loaded_build_id(const void* address);

}  // namespace heddle
