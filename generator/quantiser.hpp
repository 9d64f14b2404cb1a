#pragma once
// The generated quantiser: fp16 or bf16 tensors to e4m3 with scales, a few kernels for each of Q, K
// and V. None of what is done to a tensor before it is rounded changes what attention gives.

#include <string>
#include <vector>

#include "generator/emit.hpp"
#include "templates/quantise_parameters.cuh"

namespace heddle {

/// What is done to Q, K and V.
struct QuantiserRecipe {
  bool rotate = false;      ///< Q and K: random signs, then a Hadamard transform of their columns
  bool key_mean = false;    ///< taken off each column of a head of K, put on the log-sum-exp
  bool value_mean = false;  ///< taken off each column of a head of V, put on O
};

/// What the kernels of one tensor depend on.
struct QuantiserConfig {
  DataType dtype = DataType::kBf16;  ///< of the input
  int head_dim = 128;
  ScaleKind scales = ScaleKind::kHead;
  bool rotate = false;
  bool subtract_mean = false;
  bool shift = false;  ///< of Q: write what the log-sum-exp lacks without K's mean
  ValueLayout layout = ValueLayout::kRows;

  static constexpr auto fields() {
    return std::make_tuple(
        field("dtype", &QuantiserConfig::dtype, "element type of the input"),
        field("head_dim", &QuantiserConfig::head_dim, "columns"),
        field("scales", &QuantiserConfig::scales, "what has a scale of its own"),
        field("rotate", &QuantiserConfig::rotate, "random signs and a Hadamard transform"),
        field("subtract_mean", &QuantiserConfig::subtract_mean, "columns' means are taken off"),
        field("shift", &QuantiserConfig::shift, "write the shift of the log-sum-exp"),
        field("layout", &QuantiserConfig::layout, "rows, or transposed for 8-bit products"));
  }
  friend bool operator==(const QuantiserConfig& a, const QuantiserConfig& b) {
    return fields_equal(a, b);
  }
};

struct QuantiserConfigs {
  QuantiserConfig query, key, value;
};
/// Of the tensors that a variant of e4m3 inputs takes, made from `dtype`. Throws kInvalidArgument
/// or kUnsupported for what no kernel does.
QuantiserConfigs quantiser_configs(const Variant& variant, DataType dtype,
                                   const QuantiserRecipe& recipe);

/// Kernels in the order of their launches.
enum class QuantiserPart { kColumns, kMeans, kMagnitudes, kScales, kElements };
template <>
struct EnumNames<QuantiserPart> {
  static constexpr std::array names{
      std::pair{QuantiserPart::kColumns, std::string_view("quantise_columns")},
      std::pair{QuantiserPart::kMeans, std::string_view("quantise_means")},
      std::pair{QuantiserPart::kMagnitudes, std::string_view("quantise_magnitudes")},
      std::pair{QuantiserPart::kScales, std::string_view("quantise_scales")},
      std::pair{QuantiserPart::kElements, std::string_view("quantise_elements")}};
};
std::vector<QuantiserPart> quantiser_parts(const QuantiserConfig& config);

/// One kernel as source; it takes QuantiseParameters.
KernelSource emit_quantiser(const QuantiserConfig& config, QuantiserPart part,
                            const std::string& architecture);

struct QuantiserSizes {
  int batch = 1;
  int heads = 1;
  int rows = 1;
  Strides input_strides, output_strides;  ///< all zero: contiguous
};

struct QuantiserLaunch {
  QuantiserPart part{};
  unsigned grid = 0;
  int threads = 0;
  int shared_bytes = 0;
};
/// Nothing to launch for an empty tensor.
struct QuantiserPlan {
  std::vector<QuantiserLaunch> launches;
  std::size_t workspace_bytes = 0;
};
/// Throws kInvalidArgument for sizes or strides that no launch can have.
QuantiserPlan plan_quantiser(const QuantiserConfig& config, const QuantiserSizes& sizes);

/// Threads and shared memory of a part: the template static_asserts both.
PartFootprint quantiser_footprint(const QuantiserConfig& config, QuantiserPart part);
/// Rows of a tile, which is a block's work.
int quantiser_tile_rows(const QuantiserConfig& config);
/// Whether means come with the extremes of columns, which give the largest magnitude without
/// another pass.
bool finds_extremes(const QuantiserConfig& config);

/// What the caller has where.
struct QuantiserPointers {
  const void* input = nullptr;
  void* output = nullptr;
  float* scales = nullptr;
  float* means = nullptr;  ///< written where means are taken off
  void* workspace = nullptr;
};
/// Q's part of QuantiseParameters, the shift, is the caller's to fill in.
QuantiseParameters quantiser_parameters(const QuantiserConfig& config, const QuantiserSizes& sizes,
                                        const QuantiserPointers& pointers, unsigned seed);

}  // namespace heddle
