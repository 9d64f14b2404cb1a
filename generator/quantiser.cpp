#include "generator/quantiser.hpp"

#include <algorithm>
#include <climits>

#include "templates/quantiser_layout.cuh"

namespace heddle {
namespace {

constexpr int kScaleThreads = 128;
constexpr int kWarp = 32;
constexpr long long kAlignment = 16;  // of every row: what a thread loads at a time

bool shares_scale_of_tiles(const QuantiserConfig& config) {
  return config.scales == ScaleKind::kTensor || config.scales == ScaleKind::kHead;
}

long long tiles_of(const QuantiserConfig& config, const QuantiserSizes& sizes) {
  const int rows = quantiser_tile_rows(config);
  return (sizes.rows + rows - 1LL) / rows;
}

long long heads_of(const QuantiserSizes& sizes) {
  return static_cast<long long>(sizes.batch) * sizes.heads;
}

/// A head of the output as it lies in memory.
MatrixExtent output_extent(const QuantiserConfig& config, const QuantiserSizes& sizes) {
  if (config.layout == ValueLayout::kRows) return {sizes.rows, config.head_dim};
  return {config.head_dim, (sizes.rows + kKeyGroup - 1) / kKeyGroup * kKeyGroup};
}

std::size_t partial_floats(const QuantiserConfig& config, const QuantiserSizes& sizes) {
  if (!config.subtract_mean) return 0;
  const int statistics = column_statistics(finds_extremes(config));
  return static_cast<std::size_t>(heads_of(sizes) * tiles_of(config, sizes)) *
         static_cast<std::size_t>(statistics * config.head_dim);
}

std::size_t magnitude_floats(const QuantiserConfig& config, const QuantiserSizes& sizes) {
  if (!shares_scale_of_tiles(config)) return 0;
  return static_cast<std::size_t>(heads_of(sizes)) *
         static_cast<std::size_t>(finds_extremes(config) ? 1 : tiles_of(config, sizes));
}

std::size_t rotated_mean_floats(const QuantiserConfig& config, const QuantiserSizes& sizes) {
  if (!config.subtract_mean || !config.rotate) return 0;
  return static_cast<std::size_t>(heads_of(sizes) * config.head_dim);
}

long long blocks_of(const QuantiserConfig& config, const QuantiserSizes& sizes,
                    QuantiserPart part) {
  if (part == QuantiserPart::kMeans) return heads_of(sizes);
  if (part == QuantiserPart::kScales) {
    return config.scales == ScaleKind::kTensor ? 1 : heads_of(sizes);
  }
  return heads_of(sizes) * tiles_of(config, sizes);
}

void require_aligned(const std::string& field, long long stride, long long extent,
                     int element_bytes) {
  if (extent <= 1 || stride * element_bytes % kAlignment == 0) return;
  throw Error(ErrorCode::kInvalidArgument, field,
              field + ": " + value_text(stride) + " elements of " + value_text(element_bytes) +
                  " bytes is not a multiple of 16 bytes; copy the tensor first");
}

void require_strides(const std::string& name, const Strides& given, const QuantiserSizes& sizes,
                     const MatrixExtent& extent, int element_bytes) {
  const Strides strides = resolved_strides(given, sizes.heads, extent.rows, extent.columns);
  require_aligned(name + "_strides.batch", strides.batch, sizes.batch, element_bytes);
  require_aligned(name + "_strides.head", strides.head, sizes.heads, element_bytes);
  require_aligned(name + "_strides.row", strides.row, extent.rows, element_bytes);
}

}  // namespace

bool finds_extremes(const QuantiserConfig& config) {
  return config.subtract_mean && !config.rotate && shares_scale_of_tiles(config);
}

int quantiser_tile_rows(const QuantiserConfig& config) {
  if (config.scales == ScaleKind::kBlock || config.subtract_mean) return kQuantiserRows;
  return quantiser_small_rows(config.head_dim, config.rotate,
                              config.layout == ValueLayout::kTransposed);
}

QuantiserConfigs quantiser_configs(const Variant& variant, DataType dtype,
                                   const QuantiserRecipe& recipe) {
  require(reject_variant(variant));
  if (variant.dtype != DataType::kE4m3) {
    throw Error(ErrorCode::kInvalidArgument, "dtype",
                "dtype: " + value_text(variant.dtype) +
                    " inputs need no quantiser; give the e4m3 problem that it is for");
  }
  if (dtype == DataType::kE4m3) {
    throw Error(ErrorCode::kInvalidArgument, "dtype",
                "dtype: the quantiser's input is e4m3 already; give fp16 or bf16");
  }
  const QuantiserConfig common{
      .dtype = dtype, .head_dim = variant.head_dim, .scales = variant.scales};
  QuantiserConfigs configs{common, common, common};
  configs.query.rotate = configs.key.rotate = recipe.rotate;
  configs.query.shift = configs.key.subtract_mean = recipe.key_mean;
  configs.value.subtract_mean = recipe.value_mean;
  configs.value.layout = variant.value_layout;
  if (!shares_scale_of_tiles(common)) configs.value.scales = ScaleKind::kHead;
  return configs;
}

std::vector<QuantiserPart> quantiser_parts(const QuantiserConfig& config) {
  std::vector<QuantiserPart> parts;
  if (config.subtract_mean) parts = {QuantiserPart::kColumns, QuantiserPart::kMeans};
  if (shares_scale_of_tiles(config)) {
    if (!finds_extremes(config)) parts.push_back(QuantiserPart::kMagnitudes);
    parts.push_back(QuantiserPart::kScales);
  }
  parts.push_back(QuantiserPart::kElements);
  return parts;
}

PartFootprint quantiser_footprint(const QuantiserConfig& config, QuantiserPart part) {
  const auto floats = [](int count) { return count * static_cast<int>(sizeof(float)); };
  const bool rotates = config.rotate && part != QuantiserPart::kColumns;
  const bool is_large = config.scales == ScaleKind::kBlock;
  const int threads = quantiser_tile_rows(config) /
                      quantiser_thread_rows(config.head_dim, rotates, is_large) *
                      quantiser_layout(config.head_dim, rotates).lanes;
  switch (part) {
    case QuantiserPart::kColumns:
      return {threads, floats(threads / kWarp * config.head_dim)};
    case QuantiserPart::kMeans:
      return {config.head_dim, floats(config.head_dim)};
    case QuantiserPart::kScales:
      return {kScaleThreads, floats(kScaleThreads / kWarp)};
    case QuantiserPart::kElements:
      if (config.layout == ValueLayout::kTransposed) {
        return {threads, config.head_dim * quantiser_tile_rows(config)};
      }
      break;
    case QuantiserPart::kMagnitudes:
      break;
  }
  return {threads, floats(threads / kWarp)};
}

QuantiserPlan plan_quantiser(const QuantiserConfig& config, const QuantiserSizes& sizes) {
  QuantiserPlan plan;
  if (sizes.batch == 0 || sizes.heads == 0 || sizes.rows == 0) return plan;
  require_strides("input", sizes.input_strides, sizes, {sizes.rows, config.head_dim},
                  element_bytes(config.dtype));
  require_strides("output", sizes.output_strides, sizes, output_extent(config, sizes), 1);
  for (const QuantiserPart part : quantiser_parts(config)) {
    const long long blocks = blocks_of(config, sizes, part);
    if (blocks > INT_MAX) {
      throw Error(ErrorCode::kInvalidArgument, "seqlen",
                  "the quantiser would need " + value_text(blocks) +
                      " blocks, more than a grid has; split the batch");
    }
    const PartFootprint footprint = quantiser_footprint(config, part);
    plan.launches.push_back(
        {part, static_cast<unsigned>(blocks), footprint.threads, footprint.shared_bytes});
  }
  plan.workspace_bytes =
      sizeof(float) * (partial_floats(config, sizes) + rotated_mean_floats(config, sizes) +
                       magnitude_floats(config, sizes));
  return plan;
}

QuantiseParameters quantiser_parameters(const QuantiserConfig& config, const QuantiserSizes& sizes,
                                        const QuantiserPointers& pointers, unsigned seed) {
  const auto view = [&](void* data, const Strides& given, const MatrixExtent& extent) {
    const Strides strides = resolved_strides(given, sizes.heads, extent.rows, extent.columns);
    return TensorView{data, strides.batch, strides.head, strides.row};
  };
  const MatrixExtent output = output_extent(config, sizes);
  QuantiseParameters parameters{};
  // Kernels take one type for all tensors; they never write through this one.
  parameters.input =
      view(const_cast<void*>(pointers.input), sizes.input_strides, {sizes.rows, config.head_dim});
  parameters.output = view(pointers.output, sizes.output_strides, output);
  parameters.batch = sizes.batch;
  parameters.heads = sizes.heads;
  parameters.rows = sizes.rows;
  parameters.tiles = static_cast<int>(tiles_of(config, sizes));
  // An empty tensor has no launch that would divide.
  parameters.by_tiles = known_divisor(std::max(parameters.tiles, 1));
  parameters.by_heads = known_divisor(std::max(parameters.heads, 1));
  parameters.positions = output.columns;
  if (config.rotate) {
    for (int chunk = 0; chunk < config.head_dim / kQuantiserChunk; ++chunk) {
      parameters.signs[chunk] = rotation_signs(seed, chunk);
    }
  }
  parameters.scales = pointers.scales;
  parameters.means = pointers.means;
  parameters.column_partials = static_cast<float*>(pointers.workspace);
  parameters.rotated_means = parameters.column_partials + partial_floats(config, sizes);
  parameters.magnitudes = parameters.rotated_means + rotated_mean_floats(config, sizes);
  const std::size_t magnitudes = magnitude_floats(config, sizes);
  const long long scales = config.scales == ScaleKind::kTensor ? 1 : heads_of(sizes);
  parameters.magnitudes_per_scale = static_cast<int>(static_cast<long long>(magnitudes) / scales);
  return parameters;
}

}  // namespace heddle
