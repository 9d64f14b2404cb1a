#pragma once
// The sweep of the FlashAttention-3 paper: 16384 tokens in all, heads * head_dim = 2048.

#include <string>
#include <vector>

#include "generator/problem.hpp"

namespace heddle {

inline const std::vector<int> kSweepLengths{512, 1024, 2048, 4096, 8192, 16384};

inline Problem sweep_problem(DataType dtype, int head_dim, MaskKind mask, int length) {
  constexpr int kTokens = 16384, kHidden = 2048;
  Problem problem;
  problem.variant = {.dtype = dtype, .head_dim = head_dim, .mask = mask};
  problem.sizes = {.batch = kTokens / length,
                   .heads = kHidden / head_dim,
                   .seqlen_q = length,
                   .seqlen_kv = length};
  return problem;
}

/// "d 128, causal": what a panel of a plot is about.
inline std::string panel_title(const Variant& variant) {
  return "d " + std::to_string(variant.head_dim) + ", " + std::string(enum_name(variant.mask));
}

}  // namespace heddle
