#pragma once
// Functions of the instruction layer as small kernels, to be run on a GPU and by the host twin: one
// input, two outputs that have to agree.

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "generator/emit.hpp"
#include "generator/instruction_forms.hpp"
#include "generator/template_library.hpp"
#include "runtime/host/tensor_map.hpp"

namespace heddle {

using Bytes = std::vector<unsigned char>;

/// How far two fp32 results may be apart: either bound suffices. All zero: the same bits.
struct TwinBound {
  double ulps = 0;
  double absolute = 0;

  bool bitwise() const { return ulps == 0 && absolute == 0; }
};

/// A box of a tensor that lies in the input (loads) or the output (stores).
struct TwinTensor {
  TensorMapRequest map;  ///< without its address
  std::array<int, 5> at{};
  bool store = false;
};

struct TwinCase {
  std::string name;  ///< "fp16 narrow"
  std::string file;  ///< of twins/
  std::string entry;
  DataType dtype = DataType::kBf16;
  std::vector<WgmmaShape> wgmma;
  int blocks = 1;
  int threads = 32;
  int shared_bytes = 0;
  int number = 0;  ///< numbers[0]
  std::size_t output_bytes = 0;
  TwinBound bound;
  std::optional<TwinTensor> tensor;
  bool refused = false;  ///< the GPU ends it by an error, and the host reports a fault
  Bytes input;
  std::function<Bytes(const Bytes&)> expect;  ///< what is right, written down apart; may be empty
  TwinBound expect_bound;
};

/// All of them, the same each time.
std::vector<TwinCase> twin_cases();

// Parts of the table.
void add_warp_cases(std::vector<TwinCase>& cases);
void add_element_cases(std::vector<TwinCase>& cases);
void add_memory_cases(std::vector<TwinCase>& cases);
void add_tensor_cases(std::vector<TwinCase>& cases);
void add_matrix_cases(std::vector<TwinCase>& cases);

/// The texts of twins/ and what they share.
std::span<const EmbeddedTemplate> embedded_twins();

/// What NVRTC and the host's compiler are given for the file of a case.
KernelSource twin_source(const TwinCase& twin);

Bytes random_bytes(std::size_t count, unsigned seed);

template <class Value>
std::vector<Value> values_of(const Bytes& bytes) {
  std::vector<Value> values(bytes.size() / sizeof(Value));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Value));
  return values;
}
template <class Value>
Bytes bytes_of(const std::vector<Value>& values) {
  Bytes bytes(values.size() * sizeof(Value));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// How two outputs differ, as far as both reach.
struct TwinDifference {
  std::size_t words = 0;   ///< 32-bit words that are not the same
  std::size_t beyond = 0;  ///< of them, beyond the bound
  double worst_ulps = 0;   ///< as fp32
  double worst_absolute = 0;
  std::size_t first = 0;  ///< the first word that is beyond
};
TwinDifference difference(const Bytes& left, const Bytes& right, const TwinBound& bound);

}  // namespace heddle
