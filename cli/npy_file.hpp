#pragma once
// A .npy file as bytes: its header, then its data.

#include <cstdint>
#include <fstream>
#include <string>

#include "cli/npy_header.hpp"

namespace heddle {

/// A file and what it is to the user: "query", named in errors.
struct NpySource {
  std::string field;
  std::string path;
};

/// Throws kInvalidArgument: "query: 'q.npy' WHAT".
[[noreturn]] void fail(const NpySource& source, const std::string& what);

/// One open file whose size is known, so that nothing is allocated for data that is not there.
class NpyFile {
 public:
  explicit NpyFile(const NpySource& source);

  NpyHeader read_header();
  /// The data's `count` elements of `width` bytes, which must be all that is left.
  void require_data(std::size_t count, std::size_t width) const;
  void read(void* to, std::uint64_t bytes);

 private:
  std::uint64_t bytes_left() const { return size_ - read_; }

  const NpySource& source_;
  std::ifstream stream_;
  std::uint64_t size_ = 0, read_ = 0;
};

}  // namespace heddle
