#include "generator/kernel_part.hpp"

#include "generator/shared_layout.hpp"
#include "templates/layout.cuh"
#include "templates/warpgroup_layout.cuh"

namespace heddle {
namespace {

constexpr int kWarpThreads = 32;
constexpr int kSoftmaxThreads = 256;
constexpr int kCombineThreads = 128;
/// The reference's block is 16 x 16 threads.
constexpr int kReferenceThreads = 256;

int threads(const KernelConfig& config, KernelPart part) {
  switch (part) {
    case KernelPart::kUnfusedSoftmax:
      return kSoftmaxThreads;
    case KernelPart::kSplitCombine:
      return kCombineThreads;
    case KernelPart::kReference:
      return kReferenceThreads;
    case KernelPart::kFa3Attention:
      return fa3_warps(config) * kWarpThreads;
    default:
      return config.warps * kWarpThreads;
  }
}

}  // namespace

KernelParts kernel_parts(const KernelConfig& config) {
  switch (config.family) {
    case Family::kUnfused:
      return {{KernelPart::kUnfusedScores, KernelPart::kUnfusedSoftmax, KernelPart::kUnfusedOutput},
              3};
    case Family::kFa1:
      return {{KernelPart::kFa1Attention}, 1};
    case Family::kFa2:
      if (config.split_kv) return {{KernelPart::kFa2Attention, KernelPart::kSplitCombine}, 2};
      return {{KernelPart::kFa2Attention}, 1};
    case Family::kFa3:
      if (config.split_kv) return {{KernelPart::kFa3Attention, KernelPart::kSplitCombine}, 2};
      return {{KernelPart::kFa3Attention}, 1};
    case Family::kReference:
      return {{KernelPart::kReference}, 1};
  }
  return {};
}

int fa3_warps(const KernelConfig& config) {
  return config.warps + (config.warp_specialized ? kWarpgroupWarps : 0);
}

PartFootprint part_footprint(const Variant& variant, const KernelConfig& config, KernelPart part) {
  return {threads(config, part), shared_layout(variant, config, part).total()};
}

int unfused_softmax_rows_per_block() {
  return kSoftmaxThreads / kWarpThreads * kSoftmaxRowsPerWarp;
}
// One warp per row.
int combine_rows_per_block() {
  return kCombineThreads / kWarpThreads;
}

}  // namespace heddle
