#pragma once
// The text in front of a .npy file's data: a Python dictionary with three entries.

#include <string>
#include <vector>

namespace heddle {

struct NpyHeader {
  std::string descr;  ///< "<f2": byte order, kind, bytes
  bool fortran_order = false;
  std::vector<long long> shape;
};

/// Parses the dictionary. Throws kInvalidArgument with what is wrong and where; the caller adds the
/// file's name.
NpyHeader parse_npy_header(const std::string& text);

/// Magic, version 1.0, length and dictionary, padded so that the data starts at a multiple of 64.
std::string format_npy_header(const NpyHeader& header);

}  // namespace heddle
