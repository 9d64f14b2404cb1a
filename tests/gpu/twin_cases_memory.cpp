// Loads, stores, asynchronous copies, ldmatrix and stmatrix.
#include <algorithm>

#include "tests/gpu/twin_case.hpp"

namespace heddle {
namespace {

TwinCase make(const std::string& entry, int threads, std::size_t bytes) {
  TwinCase twin;
  twin.name = twin.entry = entry;
  twin.file = "memory.cu";
  twin.threads = threads;
  twin.shared_bytes = 4096;
  twin.output_bytes = bytes;
  twin.input = random_bytes(bytes, static_cast<unsigned>(entry.size()) + 3);
  return twin;
}

void add_move(std::vector<TwinCase>& cases, std::size_t bytes) {
  TwinCase twin = make("move" + std::to_string(bytes), 64, 64 * bytes);
  twin.expect = [bytes](const Bytes& input) {
    Bytes out(input.size());
    for (std::size_t thread = 0; thread < 64; ++thread) {
      if (thread % 3 == 0) continue;
      std::copy_n(&input[bytes * (thread ^ 5)], bytes, &out[bytes * thread]);
    }
    return out;
  };
  cases.push_back(twin);
}

/// A copy by pieces of `bytes`; `kept(piece)` says how many of its bytes come, the rest is zero.
template <class Kept>
void add_copy(std::vector<TwinCase>& cases, const char* entry, std::size_t bytes, Kept kept) {
  TwinCase twin = make(entry, 128, 2048);
  twin.expect = [=](const Bytes& input) {
    Bytes out(input.size());
    for (std::size_t piece = 0; piece < 2048 / bytes; ++piece) {
      std::copy_n(&input[bytes * piece], kept(piece), &out[bytes * piece]);
    }
    return out;
  };
  cases.push_back(twin);
}

/// PTX ISA, ldmatrix: row r of matrix i is where lane 8 i + r points; lane l gets elements 2 (l %
/// 4) and the next of row l / 4, transposed: of column l / 4.
void add_load_matrices(std::vector<TwinCase>& cases, bool transposed) {
  TwinCase twin = make(transposed ? "ldmatrix_transposed" : "ldmatrix", 32, 1024);
  twin.expect = [=](const Bytes& input) {
    const auto elements = values_of<std::uint16_t>(input);
    std::vector<std::uint16_t> out;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      for (std::size_t matrix = 0; matrix < 8; ++matrix) {
        for (std::size_t part = 0; part < 2; ++part) {
          std::size_t row = lane / 4, column = 2 * (lane % 4) + part;
          if (transposed) std::swap(row, column);
          const std::size_t pointer = (8 * (matrix % 4) + row) * 5 % 32 + matrix / 4 * 32;
          out.push_back(elements[8 * pointer + column]);
        }
      }
    }
    return bytes_of(out);
  };
  cases.push_back(twin);
}

void add_store_matrices(std::vector<TwinCase>& cases, bool transposed) {
  TwinCase twin = make(transposed ? "stmatrix_transposed" : "stmatrix", 32, 512);
  twin.expect = [=](const Bytes& input) {
    const auto elements = values_of<std::uint16_t>(input);
    std::vector<std::uint16_t> out(256);
    for (std::size_t lane = 0; lane < 32; ++lane) {
      for (std::size_t matrix = 0; matrix < 4; ++matrix) {
        for (std::size_t part = 0; part < 2; ++part) {
          std::size_t row = lane / 4, column = 2 * (lane % 4) + part;
          if (transposed) std::swap(row, column);
          const std::size_t pointer = (8 * matrix + row) * 11 % 32;
          out[8 * pointer + column] = elements[8 * lane + 2 * matrix + part];
        }
      }
    }
    return bytes_of(out);
  };
  cases.push_back(twin);
}

}  // namespace

void add_memory_cases(std::vector<TwinCase>& cases) {
  for (const std::size_t bytes : {2u, 4u, 8u, 16u}) add_move(cases, bytes);
  add_copy(cases, "copy4", 4, [](std::size_t piece) { return piece % 5 != 0 ? 4 : 0; });
  add_copy(cases, "copy8", 8, [](std::size_t piece) { return piece % 3 != 0 ? 8 : 0; });
  add_copy(cases, "copy_part", 16, [](std::size_t piece) { return piece % 17; });
  TwinCase exchanged = make("copy16", 128, 2048);
  exchanged.expect = [](const Bytes& input) {
    Bytes out;
    for (std::size_t i = 0; i < input.size(); ++i) out.push_back(input[i ^ 64]);
    return out;
  };
  cases.push_back(exchanged);
  for (const bool transposed : {false, true}) {
    add_load_matrices(cases, transposed);
    add_store_matrices(cases, transposed);
  }
  TwinCase bulk = make("bulk", 32, 1024);
  bulk.expect = [](const Bytes& input) {
    auto words = values_of<std::uint32_t>(input);
    std::rotate(words.begin(), words.begin() + 64, words.end());  // in: 256 bytes on
    for (auto& word : words) ++word;
    std::rotate(words.begin(), words.begin() + 128, words.end());  // out: the halves change places
    return bytes_of(words);
  };
  cases.push_back(bulk);
}

}  // namespace heddle
