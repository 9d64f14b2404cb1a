#pragma once
// What `heddle bench --suite fa3-pipeline` prints.

#include <map>
#include <string>
#include <vector>

#include "runtime/measure.hpp"
#include "tuner/pipeline_suite.hpp"

namespace heddle {

/// Figures of others, from bench/fa3_ablation.yaml.
struct PublishedAblation {
  std::string source;
  std::string device;
  std::string problem;
  std::map<Ablation, double> tflops;
};
PublishedAblation published_ablation();

/// A row for each ablation, a column for each tile: TFLOP/s and half the interquartile range; then
/// the best tile, its share of the best that has all on, and the same as published. `timings` are
/// those of `kernels`, in order.
std::string ablation_table(const std::vector<AblationKernel>& kernels,
                           const std::vector<Timing>& timings, const PublishedAblation& published);
std::string ablation_json(const std::vector<AblationKernel>& kernels,
                          const std::vector<Timing>& timings, const PublishedAblation& published);

}  // namespace heddle
