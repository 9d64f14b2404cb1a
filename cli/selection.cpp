#include "cli/selection.hpp"

#include "generator/legality.hpp"

namespace heddle {

Choice choose_config(const KernelFlags& kernel, const ServiceFlags& services,
                     const Problem& problem, const SelectionPlace& place) {
  if (kernel.any_given()) {
    Choice choice;
    choice.config = kernel.resolve_runnable(problem, place.limits);
    if (const auto rejection = reject(problem.variant, choice.config, place.limits)) {
      throw Error(ErrorCode::kNoLegalConfig, rejection->field, rejection->reason);
    }
    return choice;
  }
  const ResultsStore store(services.results_options());
  const SelectionQuestion question{problem.variant, bucket_of(problem.sizes),
                                   problem.sizes.num_splits > 1};
  return select(question, {&place.limits, &place.device}, &store);
}

}  // namespace heddle
