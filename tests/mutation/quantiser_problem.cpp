#include "tests/mutation/quantiser_problem.hpp"

#include "runtime/host/quantiser.hpp"

namespace heddle::mutation {

QuantiserProblem::QuantiserProblem(SmallQuantiserProblem small)
    : PreparedProblem(small.name, "quantiser"),
      small_(std::move(small)),
      configs_(small_.subject.configs()),
      inputs_(quantiser_inputs(small_.subject, small_.numbers)) {
  for (const QuantiserConfig* config : {&configs_.query, &configs_.key, &configs_.value}) {
    for (const QuantiserPart part : quantiser_parts(*config)) {
      add(emit_quantiser(*config, part, "sm_90a"));
    }
  }
}

std::string QuantiserProblem::check(const HostKernels& kernels) const {
  auto next = kernels.begin();
  const auto take = [&](const QuantiserConfig& config) {
    const auto first = next;
    next += static_cast<std::ptrdiff_t>(quantiser_parts(config).size());
    return HostKernels(first, next);
  };
  const HostKernels query = take(configs_.query);
  const HostKernels key = take(configs_.key);
  const HostQuantiser quantiser{configs_, query, key, take(configs_.value)};
  const QuantiserCase& subject = small_.subject;
  const auto run = [&](const Schedule& schedule) {
    return quantise_on_host(subject.problem, quantiser, inputs_, subject.seed, {schedule, 1});
  };
  const HostQuantised first = run({1, Landing::kLatest});
  if (!first.faults.empty()) return "fault: " + first.faults.front().describe();
  const std::string found = check_quantised(subject, small_.numbers, first.tensors);
  if (!found.empty()) return "wrong answer: " + found;
  const HostQuantised second = run({2, Landing::kRandom});
  if (!second.faults.empty()) return "fault: " + second.faults.front().describe();
  if (!same_quantised(first.tensors, second.tensors)) return "two schedules give different bits";
  return {};
}

}  // namespace heddle::mutation
