#include "cli/selection.hpp"

#include <fmt/format.h>

#include "cli/gpu.hpp"
#include "generator/legality.hpp"

namespace heddle {
namespace {

std::string place_text(const Choice& choice) {
  if (choice.match != Match::kOtherDevice) {
    return fmt::format("the nearest size that serves here ({})", canonical_text(choice.bucket));
  }
  return fmt::format("{}, another device of this architecture ({} SMs), nearest to this ({})",
                     choice.device.name, choice.device.sm_count, canonical_text(choice.bucket));
}

}  // namespace

SelectionPlace place_of(const TargetFlags& target, const ServiceFlags& services) {
  if (!target.given()) {
    try {
      const auto device = open_gpu(services);
      return {device->limits(), device->device_class()};
    } catch (const Error& error) {
      const bool no_gpu =
          error.code() == ErrorCode::kDriverMissing || error.code() == ErrorCode::kDeviceMissing;
      if (!no_gpu) throw;
    }
  }
  const DeviceLimits limits = target.resolve();
  return {limits, class_of(limits), !target.given()};
}

std::string why_chosen(const Choice& choice) {
  const std::string fastest =
      choice.partial ? "the best so far of an unfinished tuning " : "measured fastest ";
  switch (choice.match) {
    case Match::kExact:
      return fastest + "for this size on this kind of device";
    case Match::kNearestSize:
      return fastest + "for " + place_text(choice);
    case Match::kOtherDevice:
      return fastest + "on " + place_text(choice);
    case Match::kPredicted:
      if (choice.expected_regret > 1) return "predicted fastest for " + place_text(choice);
      return "predicted fastest for this size on this kind of device; nothing measured serves";
    case Match::kDefault:
      if (!choice.passed_over.empty()) return "the default: what is stored does not serve here";
      return "the default: no usable measurement or prediction is stored for it";
  }
  return {};
}

std::optional<TransferRegret> regret_of(const ServiceFlags& services, const Problem& problem,
                                        const SelectionPlace& place, const Choice& choice) {
  const ResultsStore store(services.results_options());
  const SelectionQuestion question{problem.variant, bucket_of(problem.sizes),
                                   problem.sizes.num_splits > 1};
  return measured_regret(question, {&place.limits, &place.device}, store, choice);
}

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
