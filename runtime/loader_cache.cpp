#include "runtime/loader_cache.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>

namespace heddle {
namespace {

constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";

// Layout of glibc's dl-cache.h; offsets of strings count from the magic.
struct CacheHeader {
  char magic[20];
  std::uint32_t entries;
  std::uint32_t string_bytes;
  std::uint32_t unused[5];
};
struct CacheEntry {
  std::int32_t flags;
  std::uint32_t soname;
  std::uint32_t path;
  std::uint32_t os_version;
  std::uint64_t hardware;
};
static_assert(sizeof(CacheHeader) == 48 && sizeof(CacheEntry) == 24);

std::optional<std::string_view> string_at(std::string_view cache, std::size_t offset) {
  if (offset >= cache.size()) return std::nullopt;
  const std::size_t end = cache.find('\0', offset);
  if (end == std::string_view::npos) return std::nullopt;
  return cache.substr(offset, end - offset);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  std::string content(static_cast<std::size_t>(std::max<std::streamoff>(file.tellg(), 0)), '\0');
  file.seekg(0);
  if (!file.read(content.data(), static_cast<std::streamsize>(content.size()))) return {};
  return content;
}

}  // namespace

std::vector<std::string> loader_cache_paths(const std::string& cache_file,
                                            std::string_view soname) {
  const std::string content = read_file(cache_file);
  // Caches of old systems begin with a table in an older format.
  const std::size_t begin = content.find(kMagic);
  if (begin == std::string::npos || content.size() - begin < sizeof(CacheHeader)) return {};
  const std::string_view cache = std::string_view(content).substr(begin);
  CacheHeader header;
  std::memcpy(&header, cache.data(), sizeof header);
  if (header.entries > (cache.size() - sizeof header) / sizeof(CacheEntry)) return {};

  std::vector<std::string> paths;
  for (std::uint32_t index = 0; index < header.entries; ++index) {
    CacheEntry entry;
    std::memcpy(&entry, cache.data() + sizeof header + index * sizeof entry, sizeof entry);
    if (string_at(cache, entry.soname) != soname) continue;
    const auto path = string_at(cache, entry.path);
    if (path) paths.emplace_back(*path);
  }
  return paths;
}

}  // namespace heddle
