#include "runtime/host/tensor_copy.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace heddle {
namespace {

constexpr unsigned kChunk = 16;

unsigned swizzled_address(unsigned address, Swizzle swizzle) {
  const unsigned mask = (1u << static_cast<unsigned>(swizzle)) - 1u;
  return address ^ ((address >> 7 & mask) << 4);
}

/// One row of the box: where it begins in global memory (null: outside), and its elements' place.
struct Row {
  char* begin;  ///< of element 0 of the innermost dimension
  unsigned shared;
};

void add_row(const TensorMapRequest& map, const Row& row, int first, std::vector<CopyPiece>& out) {
  const long long element = element_bytes(map.type);
  const long long begin = first * element;
  const long long end = static_cast<long long>(map.dims[0]) * element;
  const auto bytes = static_cast<unsigned>(map.box[0] * element);
  for (unsigned offset = 0; offset < bytes; offset += kChunk) {
    const unsigned shared = swizzled_address(row.shared + offset, map.swizzle);
    // Inside the chunk: bytes before the tensor, of it, and beyond it.
    const long long at = begin + offset;
    const auto inside = std::clamp<long long>(-at, 0, kChunk);
    const auto beyond = std::clamp<long long>(end - at, inside, kChunk);
    const auto add = [&](long long from, long long to, char* global) {
      if (from == to) return;
      out.push_back({shared + static_cast<unsigned>(from), global, static_cast<int>(to - from)});
    };
    if (row.begin == nullptr) {
      add(0, kChunk, nullptr);
      continue;
    }
    add(0, inside, nullptr);
    add(inside, beyond, row.begin + at + inside);
    add(beyond, kChunk, nullptr);
  }
}

}  // namespace

std::string box_refusal(const TensorMapRequest& map, const int (&at)[5], bool store) {
  const long long begin = static_cast<long long>(at[0]) * element_bytes(map.type);
  if (begin % kChunk != 0) {
    return fmt::format(
        "a box that begins at byte {} of its innermost row: it has to be a multiple "
        "of {}",
        begin, kChunk);
  }
  const auto* negative = std::find_if(at, at + map.rank, [](int place) { return place < 0; });
  if (!store || negative == at + map.rank) return "";
  return fmt::format("a box stored at {} in dimension {}: only a load may begin before the tensor",
                     *negative, negative - at);
}

std::vector<CopyPiece> box_pieces(const TensorMapRequest& map, const int (&at)[5],
                                  unsigned shared) {
  std::vector<CopyPiece> pieces;
  std::array<std::uint32_t, 5> index{};
  const auto row_bytes = map.box[0] * static_cast<unsigned>(element_bytes(map.type));
  for (;;) {
    char* begin = static_cast<char*>(map.address);
    for (std::size_t i = 1; i < static_cast<std::size_t>(map.rank); ++i) {
      const long long place = static_cast<long long>(at[i]) + index[i];
      const bool inside = place >= 0 && place < static_cast<long long>(map.dims[i]);
      if (begin == nullptr || !inside) {
        begin = nullptr;
      } else {
        begin += static_cast<long long>(map.strides[i - 1]) * place;
      }
    }
    add_row(map, {begin, shared}, at[0], pieces);
    shared += row_bytes;
    std::size_t i = 1;
    while (i < static_cast<std::size_t>(map.rank) && ++index[i] == map.box[i]) index[i++] = 0;
    if (i == static_cast<std::size_t>(map.rank)) return pieces;
  }
}

std::vector<CopyPiece> run_pieces(void* global, unsigned shared, int bytes) {
  std::vector<CopyPiece> pieces;
  for (int at = 0; at < bytes; at += static_cast<int>(kChunk)) {
    const int count = std::min(bytes - at, static_cast<int>(kChunk));
    pieces.push_back({shared + static_cast<unsigned>(at), static_cast<char*>(global) + at, count});
  }
  return pieces;
}

}  // namespace heddle
