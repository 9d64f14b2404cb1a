#pragma once
// A config is run as one to three kernels, its parts, launched in this order on one stream.

#include <array>
#include <string_view>

#include "generator/kernel_config.hpp"
#include "generator/problem.hpp"

namespace heddle {

enum class KernelPart {
  kUnfusedScores,
  kUnfusedSoftmax,
  kUnfusedOutput,
  kFa1Attention,
  kFa2Attention,
  kSplitCombine,
  kFa3Attention,
  kReference,
};

template <>
struct EnumNames<KernelPart> {
  static constexpr std::array names{
      std::pair{KernelPart::kUnfusedScores, std::string_view("unfused_scores")},
      std::pair{KernelPart::kUnfusedSoftmax, std::string_view("unfused_softmax")},
      std::pair{KernelPart::kUnfusedOutput, std::string_view("unfused_output")},
      std::pair{KernelPart::kFa1Attention, std::string_view("fa1_attention")},
      std::pair{KernelPart::kFa2Attention, std::string_view("fa2_attention")},
      std::pair{KernelPart::kSplitCombine, std::string_view("split_combine")},
      std::pair{KernelPart::kFa3Attention, std::string_view("fa3_attention")},
      std::pair{KernelPart::kReference, std::string_view("reference")}};
};

constexpr int kMaxParts = 3;

struct KernelParts {
  std::array<KernelPart, kMaxParts> part{};
  int count = 0;
  const KernelPart* begin() const { return part.data(); }
  const KernelPart* end() const { return part.data() + count; }
};

KernelParts kernel_parts(const KernelConfig& config);

/// Threads per block and dynamic shared memory of one part: facts of the text (the template
/// static_asserts both), hence a function of Variant and KernelConfig alone.
struct PartFootprint {
  int threads = 0;
  int shared_bytes = 0;
};
PartFootprint part_footprint(const Variant& variant, const KernelConfig& config, KernelPart part);

/// Warps of an fa3 block: those that multiply, and the producer's warpgroup where there is one.
int fa3_warps(const KernelConfig& config);

/// Whether fa3 has to transpose V, block by block.
constexpr bool transposes_values(const Variant& variant) {
  return variant.dtype == DataType::kE4m3 && variant.value_layout == ValueLayout::kRows;
}

/// Whether a kernel of fa3 under a mask looks at its outputs for NaN and Inf, and at values only
/// once one was spoilt (templates/part/fa3_shared.cuh, kWatched).
constexpr bool watches_outputs(const Variant& variant, const KernelConfig& config) {
  return variant.dtype != DataType::kE4m3 && !config.split_kv &&
         config.running_max != RunningMax::kCheckedSum;
}

/// Whether the kernel takes MappedParameters instead of AttentionParameters.
constexpr bool loads_by_tma(KernelPart part) {
  return part == KernelPart::kFa3Attention;
}

// Query rows that one block of the row-wise kernels handles.
int unfused_softmax_rows_per_block();
int combine_rows_per_block();

/// Head dim as laid out in shared memory and registers: a multiple of the MMA's depth of 16.
constexpr int padded_head_dim(int head_dim) {
  return (head_dim + 15) / 16 * 16;
}

}  // namespace heddle
