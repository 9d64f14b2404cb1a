#include "generator/kernel_part.hpp"

#include <algorithm>

namespace heddle {
namespace {

constexpr int kWarpThreads = 32;
constexpr int kSoftmaxThreads = 256;
constexpr int kCombineThreads = 128;
constexpr int kReferenceThreads = 128;

/// Elements between rows of a shared-memory tile: 8 more than the columns, so that the eight rows
/// of an ldmatrix fall into different banks (the pitch is an odd multiple of 16 bytes).
int tile_pitch(int columns) {
  return columns + 8;
}

int tile_bytes(const Variant& variant, int rows) {
  return rows * tile_pitch(padded_head_dim(variant.head_dim)) * element_bytes(variant.dtype);
}

int fa2_shared_bytes(const Variant& variant, const KernelConfig& config) {
  const int ring = 2 * config.stages * tile_bytes(variant, config.tile_n);
  return tile_bytes(variant, config.tile_m) + ring;
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
      if (config.split_kv) return {{KernelPart::kFa2Attention, KernelPart::kFa2Combine}, 2};
      return {{KernelPart::kFa2Attention}, 1};
    case Family::kReference:
      return {{KernelPart::kReference}, 1};
  }
  return {};
}

PartFootprint part_footprint(const Variant& variant, const KernelConfig& config, KernelPart part) {
  const int tile_threads = config.warps * kWarpThreads;
  switch (part) {
    case KernelPart::kFa2Attention:
      return {tile_threads, fa2_shared_bytes(variant, config)};
    case KernelPart::kFa2Combine:
      return {kCombineThreads, 0};
    case KernelPart::kUnfusedSoftmax:
      return {kSoftmaxThreads, 0};
    case KernelPart::kReference:
      return {kReferenceThreads, 0};
    case KernelPart::kUnfusedScores:
    case KernelPart::kUnfusedOutput:
    case KernelPart::kFa1Attention:
      return {tile_threads, fa2_shared_bytes(variant, config)};
  }
  return {};
}

int unfused_softmax_rows_per_block() {
  return 1;
}
int combine_rows_per_block() {
  return 1;
}
int reference_rows_per_block(const Variant&) {
  return 1;
}

}  // namespace heddle
