#pragma once
// What stands behind a chosen config, and what speaks against it.

#include <optional>
#include <string>

#include "cli/selection.hpp"
#include "generator/candidates.hpp"

namespace heddle {

struct ChoiceEvidence {
  std::optional<Measurement> measured;   ///< the stored row that the choice came from
  std::optional<Measurement> predicted;  ///< stored for this very size, behind a choice for another
  std::optional<RankedConfig> faster;    ///< of another family, much faster by the cost model
};
ChoiceEvidence evidence_of(const ServiceFlags& services, const Problem& problem,
                           const SelectionPlace& place, const Choice& choice);

/// "861.0 us on NVIDIA H200 (132 SMs), 2026-01-01": with its sizes where they are not the
/// problem's.
std::string stored_text(const Measurement& row, const Problem& problem);

}  // namespace heddle
