#include "generator/explain/memory_facts.hpp"

#include <fmt/format.h>

#include "generator/cost_model.hpp"
#include "generator/fragments.hpp"
#include "generator/shared_layout.hpp"
#include "templates/warpgroup_layout.cuh"

namespace heddle {
namespace {

constexpr int kRegisterBytes = 4;

/// Items of `registers` per thread, for so many threads.
class RegisterList {
 public:
  RegisterList(std::vector<MemoryItem>& items, int threads) : items_(items), threads_(threads) {}

  void add(const std::string& name, int registers) {
    if (registers <= 0) return;
    items_.push_back({name, static_cast<long long>(registers) * threads_ * kRegisterBytes,
                      fmt::format("{} of each of {} threads", registers, threads_)});
  }
  void add(const Fragments& fragments) {
    add("O so far, fp32", fragments.output);
    add("S, fp32", fragments.scores);
    add("P, ready to be multiplied", fragments.probabilities);
    add("Q, ready to be multiplied", fragments.query);
    add("part of P V about to be exchanged", fragments.partial);
  }

 private:
  std::vector<MemoryItem>& items_;
  int threads_;
};

/// fa3 deals registers out by role; without setmaxnreg every thread has what the launch gives.
void add_fa3(std::vector<MemoryItem>& items, const Variant& variant, const KernelConfig& config) {
  const Fragments fragments = fragments_of(variant, config, KernelPart::kFa3Attention);
  const int launch = role_pool_registers(fa3_warps(config) * 32);
  const RoleRegisters roles =
      config.warp_specialized
          ? role_registers(config.tile_m / kWarpgroupRows, transposes_values(variant))
          : RoleRegisters{0, 0};
  RegisterList consumers(items, config.warps * 32);
  consumers.add(fragments);
  const int given = roles.consumer > 0 ? roles.consumer : launch;
  consumers.add("row statistics, addresses, spare (consumers)", given - fragments.total());
  if (!config.warp_specialized) return;
  RegisterList producer(items, kWarpgroupWarps * 32);
  producer.add("producer's warpgroup", roles.producer > 0 ? roles.producer : launch);
}

long long rows_of(const Sizes& sizes, int heads, int length) {
  return static_cast<long long>(sizes.batch) * heads * length;
}

}  // namespace

long long total_bytes(const std::vector<MemoryItem>& items) {
  long long total = 0;
  for (const MemoryItem& item : items) total += item.bytes;
  return total;
}

BlockMemory block_memory(const Variant& variant, const KernelConfig& config, KernelPart part,
                         const DeviceLimits& limits) {
  BlockMemory memory;
  for (const SharedItem& item : shared_layout(variant, config, part)) {
    memory.shared.push_back(
        {std::string(item.name), item.total(),
         item.copies > 1 ? fmt::format("{} x {} B", item.copies, item.bytes) : std::string()});
  }
  if (part == KernelPart::kFa3Attention) {
    add_fa3(memory.registers, variant, config);
    return memory;
  }
  const Fragments fragments = fragments_of(variant, config, part);
  if (fragments.total() == 0) return memory;
  RegisterList list(memory.registers, part_footprint(variant, config, part).threads);
  list.add(fragments);
  list.add("row statistics, addresses, spare",
           estimate_registers(variant, config, limits) - fragments.total());
  return memory;
}

std::vector<MemoryItem> hbm_contents(const Problem& problem, const KernelConfig& config,
                                     const LaunchPlan& plan) {
  const Sizes& sizes = problem.sizes;
  const Variant& variant = problem.variant;
  const long long queries = rows_of(sizes, sizes.heads, sizes.seqlen_q);
  const long long keys = rows_of(sizes, sizes.resolved_kv_heads(), sizes.seqlen_kv);
  const long long row = static_cast<long long>(variant.head_dim) * element_bytes(variant.dtype);
  const long long output_row =
      static_cast<long long>(variant.head_dim) * element_bytes(output_type(variant));
  const std::string type(enum_name(variant.dtype));
  std::vector<MemoryItem> items{
      {"Q", queries * row, type},
      {"K and V", 2 * keys * row, type},
      {"O", queries * output_row, std::string(enum_name(output_type(variant)))}};
  const auto workspace = static_cast<long long>(plan.workspace_bytes);
  if (workspace == 0) return items;
  if (config.family == Family::kUnfused) {
    items.push_back({"S, then P in its place", workspace, "workspace, fp32 and then " + type});
  } else {
    const long long rows = queries * plan.num_splits;
    const long long output = rows * variant.head_dim * static_cast<long long>(sizeof(float));
    const long long kept = rows * static_cast<long long>(sizeof(PartialRow));
    items.push_back(
        {"O of each split, fp32", output, fmt::format("workspace, {} splits", plan.num_splits)});
    items.push_back({"row statistics of each split", kept,
                     fmt::format("workspace, {} B a row: base of the exponents, what rounding took "
                                 "from it, sum",
                                 sizeof(PartialRow))});
    if (const long long gap = workspace - output - kept; gap > 0) {
      items.push_back({"alignment", gap, "workspace, between the two"});
    }
  }
  return items;
}

}  // namespace heddle
