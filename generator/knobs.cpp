#include "generator/knobs.hpp"

namespace heddle {
namespace {

constexpr unsigned bit(Family family) {
  return 1u << static_cast<int>(family);
}
constexpr unsigned kTiled =
    bit(Family::kUnfused) | bit(Family::kFa1) | bit(Family::kFa2) | bit(Family::kFa3);

struct KnobRule {
  std::string_view knob;
  unsigned families;
  bool causal_only = false;
};

constexpr KnobRule kRules[] = {
    {"family", kTiled | bit(Family::kReference)},
    {"tile_m", kTiled | bit(Family::kReference)},
    {"tile_n", kTiled | bit(Family::kReference)},
    {"warps", kTiled},
    {"stages", kTiled},
    {"query_in_registers", bit(Family::kFa2)},
    {"running_max", bit(Family::kFa2) | bit(Family::kFa3)},
    {"split_kv", bit(Family::kFa2) | bit(Family::kFa3)},
    {"longest_first", bit(Family::kFa2) | bit(Family::kFa3), true},
    {"query_stages", bit(Family::kFa3)},
    {"scheduler", bit(Family::kFa3)},
    {"ping_pong", bit(Family::kFa3)},
    {"overlap", bit(Family::kFa3)},
    {"warp_specialized", bit(Family::kFa3)},
    {"tma_store", bit(Family::kFa3)},
    {"skip_masked", bit(Family::kFa3), true},
    {"pack_gqa", bit(Family::kFa3)},
    {"reference", bit(Family::kReference)},
};

}  // namespace

bool knob_applies(std::string_view knob, Family family, const Variant& variant) {
  for (const KnobRule& rule : kRules) {
    if (rule.knob != knob) continue;
    return (rule.families & bit(family)) != 0 &&
           (!rule.causal_only || variant.mask == MaskKind::kCausal);
  }
  return false;
}

}  // namespace heddle
