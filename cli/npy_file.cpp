#include "cli/npy_file.hpp"

#include <cstring>
#include <filesystem>

#include "generator/error.hpp"

namespace heddle {
namespace {

constexpr std::uint64_t kLongestHeader = 1 << 20;

}  // namespace

void fail(const NpySource& source, const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, source.field,
              source.field + ": '" + source.path + "' " + what);
}

NpyFile::NpyFile(const NpySource& source) : source_(source) {
  std::error_code error;
  size_ = std::filesystem::file_size(source.path, error);
  stream_.open(source.path, std::ios::binary);
  if (error || !stream_) fail(source, "cannot be read; check that the file exists");
}

NpyHeader NpyFile::read_header() {
  char prefix[8];
  read(prefix, sizeof prefix);
  if (std::memcmp(prefix, "\x93NUMPY", 6) != 0) {
    fail(source_,
         "is not a .npy file (it does not start with \\x93NUMPY); write one with "
         "numpy.save");
  }
  const int major = static_cast<unsigned char>(prefix[6]);
  if (major < 1 || major > 3) {
    fail(source_,
         "has .npy format version " + std::to_string(major) + "; versions 1, 2 and 3 are known");
  }
  unsigned char length_bytes[4] = {};
  read(length_bytes, major == 1 ? 2 : 4);
  std::uint64_t length = 0;
  for (int i = 3; i >= 0; --i) length = length * 256 + length_bytes[i];
  if (length > kLongestHeader) {
    fail(source_, "claims a header of " + std::to_string(length) + " bytes; the file is damaged");
  }
  std::string text(length, ' ');
  read(text.data(), length);
  NpyHeader header;
  try {
    header = parse_npy_header(text);
  } catch (const Error& error) {
    fail(source_, std::string("has a header that cannot be understood: ") + error.what());
  }
  if (header.fortran_order) {
    fail(source_, "is in Fortran order; convert it with numpy.ascontiguousarray");
  }
  if (header.descr.size() == 3 && header.descr[0] == '>') {
    fail(source_, "is big endian (" + header.descr + "); convert it with array.astype('<" +
                      header.descr.substr(1) + "')");
  }
  return header;
}

void NpyFile::require_data(std::size_t count, std::size_t width) const {
  const std::uint64_t needed = count * width;
  if (bytes_left() == needed) return;
  fail(source_, std::string(bytes_left() < needed ? "is truncated" : "is too long") +
                    ": its shape needs " + std::to_string(needed) + " bytes of data, it has " +
                    std::to_string(bytes_left()) + "; write it again with numpy.save");
}

void NpyFile::read(void* to, std::uint64_t bytes) {
  if (bytes_left() < bytes) {
    fail(source_, "is truncated: it ends after " + std::to_string(size_) +
                      " bytes, within its header; write it again with numpy.save");
  }
  stream_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
  if (!stream_) fail(source_, "cannot be read to its end");
  read_ += bytes;
}

}  // namespace heddle
