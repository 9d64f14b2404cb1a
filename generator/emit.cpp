#include "generator/emit.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "generator/instruction_forms.hpp"
#include "generator/knobs.hpp"
#include "generator/legality.hpp"
#include "generator/source_text.hpp"
#include "generator/template_library.hpp"
#include "templates/warpgroup_layout.cuh"

namespace heddle {
namespace {

constexpr std::string_view kFormsName = "instruction_forms.cuh";

/// What a part's template is called and which knobs its Config carries.
struct PartTemplate {
  KernelPart part;
  std::string_view header;
  std::string_view function;
  std::string_view knobs;  ///< space-separated names of KernelConfig fields
};

constexpr PartTemplate kTemplates[] = {
    {KernelPart::kUnfusedScores, "kernel/unfused_scores.cuh", "unfused::scores",
     "tile_m tile_n warps stages split_kv longest_first"},
    {KernelPart::kUnfusedSoftmax, "kernel/unfused_softmax.cuh", "unfused::softmax", ""},
    {KernelPart::kUnfusedOutput, "kernel/unfused_output.cuh", "unfused::output",
     "tile_m tile_n warps stages split_kv longest_first"},
    {KernelPart::kFa1Attention, "kernel/fa1.cuh", "fa1::attention",
     "tile_m tile_n warps stages split_kv longest_first"},
    {KernelPart::kFa2Attention, "kernel/fa2.cuh", "fa2::attention",
     "tile_m tile_n warps stages query_in_registers running_max split_kv longest_first"},
    {KernelPart::kSplitCombine, "kernel/split_combine.cuh", "split::combine", ""},
    {KernelPart::kFa3Attention, "kernel/fa3.cuh", "fa3::attention",
     "tile_m tile_n warps stages running_max split_kv longest_first query_stages scheduler "
     "ping_pong overlap warp_specialized tma_store skip_masked pack_gqa"},
    {KernelPart::kReference, "kernel/reference.cuh", "reference::attention",
     "tile_m tile_n split_kv longest_first reference"},
};

const PartTemplate& template_of(KernelPart part) {
  return *std::find_if(std::begin(kTemplates), std::end(kTemplates),
                       [&](const PartTemplate& entry) { return entry.part == part; });
}

bool lists(std::string_view names, std::string_view name) {
  const std::string padded = fmt::format(" {} ", names);
  return padded.find(fmt::format(" {} ", name)) != std::string::npos;
}

/// "tile_m" -> "kTileM".
std::string constant_name(std::string_view field_name) {
  std::string name = "k";
  bool upper = true;
  for (const char c : field_name) {
    if (c != '_') name += upper ? static_cast<char>(std::toupper(c)) : c;
    upper = c == '_';
  }
  return name;
}

std::string constant(std::string_view name, int value) {
  return fmt::format("  static constexpr int {} = {};\n", name, value);
}
std::string constant(std::string_view name, bool value) {
  return fmt::format("  static constexpr bool {} = {};\n", name, value);
}
std::string constant(std::string_view, RunningMax value) {
  return constant("kLazyRescale", value == RunningMax::kLazy) +
         constant("kCheckedSum", value == RunningMax::kCheckedSum);
}
std::string constant(std::string_view, TileScheduler value) {
  return constant("kPersistent", value != TileScheduler::kTilePerBlock) +
         constant("kDynamicTiles", value == TileScheduler::kDynamic);
}
std::string constant(std::string_view name, Overlap value) {
  return constant(name, value != Overlap::kNone);
}
std::string constant(std::string_view, ReferenceKind value) {
  const bool baseline = value == ReferenceKind::kBaseline;
  return fmt::format("  using Accumulate = {};\n", baseline ? "float" : "double") +
         constant("kRoundProbabilities", baseline);
}
std::string constant(std::string_view, Family) {
  return {};
}

std::string_view element_type(DataType dtype) {
  if (dtype == DataType::kE4m3) return "heddle::E4M3";
  return dtype == DataType::kFp16 ? "heddle::Half" : "heddle::BFloat16";
}

/// What part/descale.cuh asks for.
std::string scale_constants(const Variant& variant) {
  const bool scaled = variant.dtype == DataType::kE4m3;
  const bool by_rows = variant.scales == ScaleKind::kBlock || variant.scales == ScaleKind::kToken;
  const int rows = variant.scales == ScaleKind::kBlock ? kScaleBlockRows : 1;
  return constant("kScaledInputs", scaled) +
         constant("kScalePerHead", scaled && variant.scales != ScaleKind::kTensor) +
         constant("kScaleRows", by_rows ? rows : 0) +
         constant("kTransposedValues", variant.value_layout == ValueLayout::kTransposed);
}

std::string config_struct(const Variant& variant, const KernelConfig& config,
                          const PartTemplate& entry) {
  const PartFootprint footprint = part_footprint(variant, config, entry.part);
  std::string text = "struct Config {\n";
  text += fmt::format("  using Element = {};\n", element_type(variant.dtype));
  text += fmt::format("  using OutputElement = {};\n", element_type(output_type(variant)));
  text += scale_constants(variant);
  text += constant("kHeadDim", variant.head_dim);
  text += constant("kHeadDimPadded", padded_head_dim(variant.head_dim));
  text += constant("kCausal", variant.mask == MaskKind::kCausal);
  text += constant("kAlignment", variant.alignment);
  text += constant("kThreads", footprint.threads);
  text += constant("kSharedBytes", footprint.shared_bytes);
  for_each_field(config, [&](const auto& knob, const auto& value) {
    if (!lists(entry.knobs, knob.name)) return;
    // A knob without effect here is emitted neutral, so that equal kernels have equal texts (and
    // parts that families share, such as the scheduler, find it).
    const bool applies = knob_applies(knob.name, config.family, variant);
    text += constant(constant_name(knob.name), applies ? value : std::decay_t<decltype(value)>{});
  });
  if (entry.part == KernelPart::kSplitCombine) {
    text += constant("kWarpgroupSums", config.family == Family::kFa3);
  }
  text += constant("kScoreHook", false) + constant("kMaskHook", false);
  return text +
         "\n"
         "  /// Applied to every scaled logit; the identity unless the problem brings a snippet.\n"
         "  template <class Logit>\n"
         "  static Logit score(Logit logit, heddle::ScorePosition) {\n"
         "    return logit;\n"
         "  }\n"
         "  /// Which keys a query may see beyond the mask; all unless the problem says "
         "otherwise.\n"
         "  static bool visible(heddle::ScorePosition) { return true; }\n"
         "};\n";
}

std::string reproduction_command(const Variant& variant, const KernelConfig& config,
                                 KernelPart part, const std::string& architecture) {
  std::string command = "heddle emit --arch " + architecture;
  const Variant neutral;
  for_each_field(variant, [&](const auto& entry, const auto& value) {
    const bool always = entry.name == "dtype" || entry.name == "head_dim" || entry.name == "mask";
    if (!always && value == neutral.*(entry.member)) return;
    std::string flag(entry.name);
    std::replace(flag.begin(), flag.end(), '_', '-');
    command += fmt::format(" --{} {}", flag, value_text(value));
  });
  command += fmt::format(" --family {}", enum_name(config.family));
  for_each_field(config, [&](const auto& knob, const auto& value) {
    if (knob.name == "family" || !knob_applies(knob.name, config.family, variant)) return;
    command += fmt::format(" --set {}={}", knob.name, value_text(value));
  });
  return command + fmt::format(" --part {}", enum_name(part));
}

/// Zeros that come with the module: each launch draws its tiles from one of them.
std::string counters_text(const KernelConfig& config) {
  if (config.scheduler != TileScheduler::kDynamic) return {};
  return fmt::format("extern \"C\" __device__ unsigned {}[{}] = {{}};\n\n", kTileCountersName,
                     kTileCounters);
}

std::string main_text(const Variant& variant, const KernelConfig& config, const PartTemplate& entry,
                      const std::string& architecture) {
  const std::string variant_text = canonical_text(variant);
  const std::string config_text = canonical_text(config);
  return fmt::format(
      "// {part}, emitted by heddle.\n"
      "// variant: {variant}\n"
      "// config:  {config}\n"
      "// again:   {command}\n"
      "#include \"{forms}\"\n"
      "#include \"{header}\"\n"
      "\n"
      "{struct}"
      "\n"
      "{counters}"
      "extern \"C\" __global__ void __launch_bounds__(Config::kThreads, 1)\n"
      "heddle_{part}(const __grid_constant__ heddle::{parameters} parameters) {{\n"
      "  heddle::{function}<Config>(parameters);\n"
      "}}\n",
      fmt::arg("part", enum_name(entry.part)),
      fmt::arg("parameters", loads_by_tma(entry.part) ? "MappedParameters" : "AttentionParameters"),
      fmt::arg("variant", variant_text.empty() ? "(all defaults)" : variant_text),
      fmt::arg("config", config_text.empty() ? "(all defaults)" : config_text),
      fmt::arg("command", reproduction_command(variant, config, entry.part, architecture)),
      fmt::arg("forms", kFormsName), fmt::arg("header", entry.header),
      fmt::arg("struct", config_struct(variant, config, entry)),
      fmt::arg("counters", counters_text(config)), fmt::arg("function", entry.function));
}

InstructionRequest instructions_of(const Variant& variant, const KernelConfig& config,
                                   KernelPart part) {
  if (part != KernelPart::kFa3Attention) return {.dtype = variant.dtype};
  return {.dtype = variant.dtype,
          .mma = config.running_max == RunningMax::kCheckedSum,
          .wgmma = {{config.tile_n, OperandSource::kShared},
                    {variant.head_dim, OperandSource::kRegisters}}};
}

}  // namespace

void add_headers(std::string_view text, std::vector<SourceFile>& headers) {
  for (const std::string& name : included_names(text)) {
    const auto known = [&](const SourceFile& file) { return file.name == name; };
    if (std::any_of(headers.begin(), headers.end(), known)) continue;
    const auto embedded = find_template(name);
    if (!embedded) throw Error(ErrorCode::kInternal, name, "no embedded template named " + name);
    headers.push_back({name, std::string(*embedded)});
    add_headers(*embedded, headers);
  }
}

KernelSource emit(const Variant& variant, const KernelConfig& config, KernelPart part,
                  const DeviceLimits& limits) {
  require(reject_variant(variant));
  if (const auto rejection = reject(variant, config, limits)) {
    const auto code = rejection->unsupported ? ErrorCode::kUnsupported : ErrorCode::kNoLegalConfig;
    throw Error(code, rejection->field, rejection->reason);
  }
  const PartTemplate& entry = template_of(part);
  KernelSource source;
  source.part = part;
  source.entry = fmt::format("heddle_{}", enum_name(part));
  source.architecture = limits.architecture;
  source.main = {source.entry + ".cu", main_text(variant, config, entry, limits.architecture)};
  source.headers.push_back(
      {std::string(kFormsName), instruction_forms(instructions_of(variant, config, part))});
  add_headers(source.headers.front().text, source.headers);
  add_headers(source.main.text, source.headers);
  return source;
}

std::string flatten(const KernelSource& source) {
  return inline_includes(source.main, source.headers);
}

Hash128 source_hash(const KernelSource& source) {
  return hash_text(strip_comments(flatten(source)));
}

}  // namespace heddle
