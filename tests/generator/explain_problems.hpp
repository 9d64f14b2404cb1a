#pragma once
// Problems and configs of every family and kind, for tests of what explain says.

#include <algorithm>
#include <random>
#include <vector>

#include "generator/candidates.hpp"

namespace heddle {

struct ExplainCase {
  Problem problem;
  KernelConfig config;
};

inline const DeviceLimits& explain_device() {
  return find_architecture("sm_90a");
}

/// Prefill, decode, a few long heads; full and causal; 16 and 8 bits.
inline std::vector<Problem> explain_problems() {
  std::vector<Problem> problems;
  for (const DataType dtype : {DataType::kBf16, DataType::kE4m3}) {
    for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
      for (const int head_dim : {64, 128}) {
        Problem problem;
        problem.variant.dtype = dtype;
        problem.variant.mask = mask;
        problem.variant.head_dim = head_dim;
        problem.sizes = {
            .batch = 2, .heads = 16, .kv_heads = 4, .seqlen_q = 1000, .seqlen_kv = 3000};
        problems.push_back(problem);
        problem.sizes = {.batch = 3, .heads = 8, .kv_heads = 2, .seqlen_q = 1, .seqlen_kv = 20000};
        problems.push_back(problem);
        problem.sizes = {.batch = 1, .heads = 2, .seqlen_q = 8192, .seqlen_kv = 8192};
        problems.push_back(problem);
      }
    }
  }
  return problems;
}

/// A few dozen configs of each family for each of those problems, and the ablations of fa3.
inline std::vector<ExplainCase> explain_cases(unsigned seed) {
  std::vector<ExplainCase> cases;
  std::mt19937 random(seed);
  for (const Problem& problem : explain_problems()) {
    for (const Family family : {Family::kUnfused, Family::kFa1, Family::kFa2, Family::kFa3}) {
      auto configs = enumerate_candidates(problem.variant, explain_device(), family);
      std::shuffle(configs.begin(), configs.end(), random);
      configs.resize(std::min<std::size_t>(configs.size(), 24));
      for (KernelConfig config : configs) {
        cases.push_back({problem, config});
        if (family != Family::kFa3) continue;
        config.overlap = Overlap::kNone;
        cases.push_back({problem, config});
      }
    }
  }
  return cases;
}

}  // namespace heddle
