#include "runtime/host/suite_rows.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "generator/candidates.hpp"
#include "generator/hash.hpp"
#include "generator/legality.hpp"
#include "runtime/host/pairwise.hpp"
#include "runtime/host/random.hpp"
#include "runtime/testing/layout.hpp"

namespace heddle {
namespace {

// What a row is drawn from. Head dims: one below an mma's depth pair, one that is no multiple of
// 16, and the four that ship tuned; lengths: round tile edges.
constexpr int kHeadDims[] = {40, 64, 72, 96, 128, 256};
constexpr int kLengths[] = {1, 7, 16, 17, 63, 64, 65, 129};
constexpr int kGroups[] = {1, 4, 7};
constexpr int kSplits[] = {1, 3};
constexpr Layout kLayouts[] = {Layout::kBatchHeadRow, Layout::kBatchRowHead,
                               Layout::kEverySecondRow, Layout::kOddPitch};
constexpr InputKind kKinds[] = {InputKind::kNormal, InputKind::kLargeLogits, InputKind::kOneHot,
                                InputKind::kRising, InputKind::kOneHeavy};
constexpr int kNamedTile = 64;
/// Factors from here on, element type, mask and the knobs, meet in every pair; the ones before
/// (sizes, layout, inputs) show each value.
constexpr std::size_t kFirstPaired = 7;
/// Rows to pick from: enough that a pair missing from them is most likely illegal.
constexpr int kPoolRows = 2500;

template <class Value, std::size_t kCount>
int draw(HostRandom& random, const Value (&)[kCount]) {
  return random.below(static_cast<int>(kCount));
}

class RowSource {
 public:
  RowSource(Family family, const DeviceLimits& limits, std::uint64_t seed)
      : family_(family),
        limits_(limits),
        random_(seed ^ (static_cast<std::uint64_t>(family) << 60)) {}

  /// False where the draw has no legal config.
  bool next(HostSuiteRow& row, FactorRow& factors) {
    row = {};
    factors = {draw(random_, kHeadDims), draw(random_, kLengths), draw(random_, kLengths),
               draw(random_, kGroups),   draw(random_, kSplits),  draw(random_, kLayouts),
               draw(random_, kKinds),    random_.below(2),        random_.below(2)};
    fill_problem(row.problem, factors);
    row.kind = kKinds[factors[6]];
    row.seed = random_.next();
    row.label = std::string(enum_name(row.kind));
    const auto& candidates = candidates_of(row.problem.variant);
    if (candidates.empty()) return false;
    row.config = candidates[random_.next() % candidates.size()];
    if (family_ == Family::kFa3) turn_off(row);
    if (!row.config.split_kv) factors[4] = 0;
    if (row.config.split_kv) row.problem.sizes.num_splits = kSplits[factors[4]];
    const KernelConfig& config = row.config;
    for (const int knob : {config.tile_m / 16, config.tile_n / 16, config.warps, config.stages,
                           int{config.query_in_registers}, static_cast<int>(config.running_max),
                           int{config.split_kv}, int{config.longest_first}, config.query_stages,
                           static_cast<int>(config.scheduler), int{config.ping_pong},
                           static_cast<int>(config.overlap), int{config.warp_specialized},
                           int{config.tma_store}, int{config.skip_masked}, int{config.pack_gqa}}) {
      factors.push_back(knob);
    }
    return true;
  }

 private:
  /// What the tuner does not propose, since it only costs time; the most of it that is legal.
  void turn_off(HostSuiteRow& row) {
    KernelConfig config = row.config;
    if (random_.below(2) == 0) config.overlap = Overlap::kNone;
    if (random_.below(2) == 0) config.warp_specialized = false;
    if (reject(row.problem.variant, config, limits_)) config.warp_specialized = true;
    row.config = config;
  }

  static void fill_problem(Problem& problem, const FactorRow& factors) {
    Sizes& sizes = problem.sizes;
    problem.variant.head_dim = kHeadDims[factors[0]];
    problem.variant.dtype = factors[7] == 0 ? DataType::kBf16 : DataType::kFp16;
    problem.variant.mask = factors[8] == 0 ? MaskKind::kFull : MaskKind::kCausal;
    sizes.seqlen_q = kLengths[factors[1]];
    sizes.seqlen_kv = kLengths[factors[2]];
    // More than one sequence and KV head, but never many query heads: blocks are what takes time.
    const int group = kGroups[factors[3]];
    sizes.batch = group == 1 ? 2 : 1;
    sizes.kv_heads = group == 7 ? 1 : 2;
    sizes.heads = sizes.kv_heads * group;
    const Layout layout = kLayouts[factors[5]];
    sizes.query_strides = sizes.output_strides = layout_strides(layout, query_shape(problem));
    sizes.key_strides = sizes.value_strides = layout_strides(layout, key_value_shape(problem));
    problem.variant.alignment = stride_alignment(problem);
  }

  const std::vector<KernelConfig>& candidates_of(const Variant& variant) {
    auto [entry, is_new] = candidates_.try_emplace(canonical_text(variant));
    if (is_new) entry->second = enumerate_candidates(variant, limits_, family_);
    return entry->second;
  }

  Family family_;
  const DeviceLimits& limits_;
  HostRandom random_;
  std::map<std::string, std::vector<KernelConfig>> candidates_;
};

}  // namespace

HostTensors HostSuiteRow::tensors() const {
  return named ? named->tensors : make_inputs(problem, kind, seed);
}

std::vector<HostSuiteRow> pairwise_rows(Family family, const DeviceLimits& limits,
                                        std::uint64_t seed) {
  RowSource source(family, limits, seed);
  std::vector<HostSuiteRow> pool;
  std::vector<FactorRow> factors;
  HostSuiteRow row;
  FactorRow values;
  for (int i = 0; i < kPoolRows; ++i) {
    if (!source.next(row, values)) continue;
    pool.push_back(row);
    factors.push_back(values);
  }
  std::vector<HostSuiteRow> rows;
  for (const std::size_t index : cover_pairs(factors, kFirstPaired))
    rows.push_back(std::move(pool[index]));
  return rows;
}

std::optional<HostSuiteRow> named_row(std::shared_ptr<const CaseInput> named, Family family,
                                      const DeviceLimits& limits) {
  HostSuiteRow row;
  row.label = named->name;
  row.problem = named->problem;
  row.problem.variant.alignment =
      std::min(row.problem.variant.alignment, stride_alignment(row.problem));
  // Cases of one variant share a config, so that a kernel is compiled for many of them. Small
  // tiles: the cases have few rows, and large tiles would mostly compute what is masked.
  auto candidates = enumerate_candidates(row.problem.variant, limits, family);
  // Only fa3 may be impossible for a case; of the others that would be a hole in the search space.
  if (candidates.empty() && family == Family::kFa3) return std::nullopt;
  if (candidates.empty()) {
    throw Error(ErrorCode::kNoLegalConfig, "family",
                fmt::format("no legal {} config for {}", enum_name(family),
                            full_text(row.problem.variant)));
  }
  const auto large = [](const KernelConfig& config) {
    return config.tile_m > kNamedTile || config.tile_n > kNamedTile;
  };
  if (!std::all_of(candidates.begin(), candidates.end(), large)) std::erase_if(candidates, large);
  row.config = candidates[hash_text(canonical_text(row.problem.variant)).low % candidates.size()];
  if (row.config.split_kv) row.problem.sizes.num_splits = 3;
  row.seed = hash_text(row.label).low;
  row.named = std::move(named);
  return row;
}

}  // namespace heddle
