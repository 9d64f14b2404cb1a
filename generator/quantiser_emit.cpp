#include <algorithm>

#include <fmt/format.h>

#include "generator/instruction_forms.hpp"
#include "generator/quantiser.hpp"
#include "templates/warpgroup_layout.cuh"

namespace heddle {
namespace {

/// So that an SM has 1024 threads, with 64 registers each: enough to keep its memory busy. Half as
/// many where each has twice the numbers.
int blocks_per_sm(const QuantiserConfig& config, bool rotates, const PartFootprint& footprint) {
  const bool is_wide = rotates && config.head_dim > 128;
  return std::max(1, (is_wide ? 512 : 1024) / footprint.threads);
}

std::string config_struct(const QuantiserConfig& config, QuantiserPart part) {
  const PartFootprint footprint = quantiser_footprint(config, part);
  const auto number = [](const char* name, int value) {
    return fmt::format("  static constexpr int {} = {};\n", name, value);
  };
  const auto flag = [](const char* name, bool value) {
    return fmt::format("  static constexpr bool {} = {};\n", name, value);
  };
  // Columns' sums are those of the tensor as it came.
  const bool is_plain = part == QuantiserPart::kColumns;
  const bool rotates = config.rotate && !is_plain;
  const bool by_token = config.scales == ScaleKind::kToken;
  const int scale_rows = config.scales == ScaleKind::kBlock ? kScaleBlockRows : by_token ? 1 : 0;
  return fmt::format("struct Config {{\n  using Element = heddle::{};\n",
                     config.dtype == DataType::kFp16 ? "Half" : "BFloat16") +
         number("kHeadDim", config.head_dim) + number("kThreads", footprint.threads) +
         number("kBlocks", blocks_per_sm(config, rotates, footprint)) +
         number("kTileRows", quantiser_tile_rows(config)) +
         number("kSharedBytes", footprint.shared_bytes) +
         flag("kScalePerHead", config.scales != ScaleKind::kTensor) +
         number("kScaleRows", scale_rows) + flag("kRotate", rotates) +
         flag("kSubtractMean", config.subtract_mean) + flag("kExtremes", finds_extremes(config)) +
         flag("kShift", config.shift) +
         flag("kTransposedValues", !is_plain && config.layout == ValueLayout::kTransposed) + "};\n";
}

}  // namespace

KernelSource emit_quantiser(const QuantiserConfig& config, QuantiserPart part,
                            const std::string& architecture) {
  const std::string_view name = enum_name(part);
  const std::string_view function = name.substr(name.find('_') + 1);
  const std::string config_text = canonical_text(config);
  KernelSource source;
  source.entry = fmt::format("heddle_{}", name);
  source.architecture = architecture;
  // Rows are rotated by matrix products.
  const bool multiplies =
      config.rotate && (part == QuantiserPart::kMagnitudes || part == QuantiserPart::kElements);
  constexpr std::string_view kForms = "instruction_forms.cuh";
  if (multiplies) {
    source.headers.push_back({std::string(kForms), instruction_forms({.dtype = config.dtype})});
    add_headers(source.headers.front().text, source.headers);
  }
  source.main = {
      source.entry + ".cu",
      fmt::format("// {name}, emitted by heddle.\n"
                  "// config: {config}\n"
                  "{forms}"
                  "#include \"kernel/{name}.cuh\"\n"
                  "\n"
                  "{struct}"
                  "\n"
                  "extern \"C\" __global__ void __launch_bounds__(Config::kThreads, "
                  "Config::kBlocks)\n"
                  "heddle_{name}(const __grid_constant__ heddle::QuantiseParameters "
                  "parameters) {{\n"
                  "  heddle::quantise::{function}<Config>(parameters);\n"
                  "}}\n",
                  fmt::arg("name", name),
                  fmt::arg("forms", multiplies ? fmt::format("#include \"{}\"\n", kForms) : ""),
                  fmt::arg("config", config_text.empty() ? "(all defaults)" : config_text),
                  fmt::arg("struct", config_struct(config, part)), fmt::arg("function", function))};
  add_headers(source.main.text, source.headers);
  return source;
}

}  // namespace heddle
