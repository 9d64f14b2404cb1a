#pragma once
// Families side by side for one problem, and what each takes away of what bound the one before.

#include <string>
#include <vector>

#include "generator/explain/explanation.hpp"

namespace heddle {

/// A family with its config that is predicted fastest; or why it has none.
struct Generation {
  Family family{};
  std::string impossible;  ///< why no config is legal; then there is no explanation
  Explanation explanation;
};
Generation best_of_family(const Problem& problem, Family family, const DeviceLimits& limits);

/// From one generation to the next that is possible: by the shares of predicted time.
struct GenerationStep {
  std::size_t from = 0, to = 0;  ///< positions in the list
  double gain = 1;               ///< seconds of `from` over those of `to`
  TimeShare bottleneck{};        ///< the largest share of `from`
  ShareChange removed;           ///< what shrank most
  bool less_of_it = true;  ///< a resource of which `to` uses less than half; else it is only hidden
  ShareChange grown;
  TimeShare exposed{};  ///< the largest share of `to`
};
std::vector<GenerationStep> generation_steps(const std::vector<Generation>& generations);

/// Changes of config or of instructions beside the family's own, that make a share smaller or
/// larger: "wgmma multiplies at …".
std::vector<std::string> share_causes(TimeShare share, const Explanation& before,
                                      const Explanation& after);

/// How much of a resource all blocks use; 0 for shares that are no resource.
double resource_count(TimeShare share, const Explanation& explanation);

/// Figures behind a share, from the counts of a prediction: "8.79 GB over HBM".
std::string share_evidence(TimeShare share, const Explanation& explanation);

}  // namespace heddle
