#pragma once
// A problem on a device without a GPU, and rows that a tuner might have stored for it.

#include <catch2/catch.hpp>

#include "generator/candidates.hpp"
#include "generator/legality.hpp"
#include "runtime/selection.hpp"

namespace heddle {

struct AskedProblem {
  DeviceLimits limits = find_architecture("sm_90a");
  DeviceClass device{.capability_major = 9,
                     .capability_minor = 0,
                     .sm_count = limits.sm_count,
                     .shared_bytes_per_block = limits.shared_bytes_per_block,
                     .l2_bytes = limits.l2_bytes,
                     .name = "test"};
  SelectionQuestion question{.variant = {}, .bucket = bucket_of(sizes())};

  static Sizes sizes() {
    return {.batch = 2, .heads = 8, .kv_heads = 8, .seqlen_q = 1024, .seqlen_kv = 1024};
  }
  SelectionTarget target() const { return {&limits, &device}; }
  KernelConfig fallback() const {
    return default_config(question.variant, question.bucket, limits);
  }
  /// A legal config that is not the default.
  KernelConfig other_than_default() const {
    for (const KernelConfig& config : enumerate_candidates(question.variant, limits)) {
      if (!(config == fallback()) && !config.split_kv) return config;
    }
    throw std::runtime_error("only one candidate");
  }
  Measurement measured(const KernelConfig& config, double seconds) const {
    Measurement row;
    row.variant = question.variant;
    row.bucket = question.bucket;
    row.sizes = sizes();
    row.device = device;
    row.config = config;
    row.median_seconds = seconds;
    row.samples = 10;
    row.check = CheckRecord{.passed = true};
    return row;
  }
  Measurement predicted(const KernelConfig& config, double seconds) const {
    Measurement row = measured(config, seconds);
    row.evidence = Evidence::kPredicted;
    row.samples = 0;
    row.check.reset();
    return row;
  }
  /// Predicted time here, as a factor of the default's.
  double loss(const KernelConfig& config) const {
    const Problem problem{question.variant, representative(question.bucket)};
    return predict(problem, config, limits).seconds / predict(problem, fallback(), limits).seconds;
  }
  /// Legal configs, neither the default nor split, that the model thinks as good as it (`good`), or
  /// at least half as slow again.
  std::vector<KernelConfig> others(bool good, std::size_t count) const {
    std::vector<KernelConfig> found;
    for (const KernelConfig& config : enumerate_candidates(question.variant, limits)) {
      if (config == fallback() || config.split_kv || found.size() == count) continue;
      const double factor = loss(config);
      if (good ? factor < 1.2 : factor > 1.5) found.push_back(config);
    }
    if (found.size() < count) throw std::runtime_error("too few candidates");
    return found;
  }
};

}  // namespace heddle
