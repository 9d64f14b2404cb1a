// What a Context does when no resident kernel serves a call, and what it says about its choices.

#include <fmt/format.h>

#include "runtime/context.hpp"
#include "runtime/pointer_check.hpp"
#include "runtime/quick_check.hpp"
#include "runtime/stream_scope.hpp"

namespace heddle {
namespace {

SelectionQuestion question_of(const Problem& problem) {
  return {.variant = problem.variant,
          .bucket = bucket_of(problem.sizes),
          .must_split = problem.sizes.num_splits > 1};
}

[[noreturn]] void throw_capture_miss(const Problem& problem) {
  throw Error(ErrorCode::kCaptureMiss, "stream",
              fmt::format("stream: is being captured, but no kernel is resident for this problem "
                          "({}; {}); call heddle_prepare, or launch once, before the capture",
                          canonical_text(problem.variant), canonical_text(problem.sizes)));
}

}  // namespace

const KernelEntry& Context::resolve(const Problem& problem, const Miss& miss) {
  misses_.fetch_add(1, std::memory_order_relaxed);
  const Driver::Api& api = provider_.driver().api();
  // Before waiting for anyone: a capturing thread must get its answer at once.
  if (miss.may_be_capturing && is_capturing(api, miss.stream)) throw_capture_miss(problem);
  const MissGate::Turn turn(gate_, miss.key);
  const KernelEntry* built_meanwhile = table_.find(miss.key);
  if (built_meanwhile != nullptr) return *built_meanwhile;
  return build(problem, miss.key, turn.is_nested());
}

const KernelEntry& Context::build(const Problem& problem, const KernelKey& key, bool is_nested) {
  const int device = current_device(provider_.driver().api());
  const SelectionQuestion question = question_of(problem);
  Choice choice = provider_.choose(question, device);
  if (choice.match != Match::kExact && options_.on_miss && !is_nested) {
    if (options_.on_miss(problem)) choice = provider_.choose(question, device);
  }
  auto entry = std::make_unique<KernelEntry>();
  entry->key = key;
  entry->variant = problem.variant;
  entry->device = device;
  entry->limits = &provider_.limits(device);
  entry->provided = provider_.provide(question, choice, {key.context, device});
  return table_.insert(std::move(entry));
}

std::string Context::explain(Problem problem) {
  require_valid(problem);
  if (is_empty(problem.sizes)) return "empty problem: nothing is launched\n";
  problem.variant.alignment = require_alignment(problem, {});
  const StreamScope scope(provider_.driver().api(), nullptr);
  const KernelEntry* entry = table_.find(kernel_key(problem, scope.context()));
  const int device = current_device(provider_.driver().api());
  const Choice choice =
      entry != nullptr ? entry->provided.choice : provider_.choose(question_of(problem), device);
  const LaunchPlan plan = plan_launch(problem, choice.config, provider_.limits(device));
  std::string regret;
  if (is_transfer(choice)) {
    const auto known = provider_.regret(question_of(problem), choice, device);
    regret = "regret: " + regret_text(known) + "\n";
  }
  std::string text = fmt::format(
      "match: {}\n{}config: {}\nresident: {}\nnum_splits: {}\n"
      "workspace_bytes: {}\n",
      enum_name(choice.match), regret, full_text(choice.config), entry != nullptr ? "yes" : "no",
      plan.num_splits, plan.workspace_bytes);
  for (const PassedOver& other : choice.passed_over) {
    text += fmt::format("passed_over: {} {}: {}\n", enum_name(other.match), full_text(other.config),
                        other.reason);
  }
  for (int i = 0; i < plan.count; ++i) {
    const PartLaunch& part = plan.launches[static_cast<std::size_t>(i)];
    text += fmt::format("launch: {} {} blocks x {} threads, {} B shared\n", enum_name(part.part),
                        part.grid, part.threads, part.shared_bytes);
  }
  return text;
}

}  // namespace heddle
