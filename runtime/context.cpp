#include "runtime/context.hpp"

#include <fmt/format.h>

#include "runtime/pointer_check.hpp"
#include "runtime/quick_check.hpp"
#include "runtime/stream_scope.hpp"
#include "runtime/workspace.hpp"

namespace heddle {

Context::Context(Options options) : options_(std::move(options)), provider_(options_.provider) {}

Context::~Context() = default;

void Context::launch(Call& call) {
  require_valid(call.problem);
  if (is_empty(call.problem.sizes)) return;
  require_pointers(call.problem, call.pointers);
  call.problem.variant.alignment = require_alignment(call.problem, call.pointers);
  const StreamScope scope(provider_.driver().api(), call.stream);
  const KernelKey key = kernel_key(call.problem, scope.context());
  const KernelEntry* entry = table_.find(key);
  if (entry == nullptr) {
    entry = &resolve(call.problem, {key, call.stream, true});
  } else {
    hot_hits_.add_one();
  }
  if (!entry->pointers_checked.load(std::memory_order_relaxed)) {
    require_device_memory(provider_.driver().api(), call.pointers, entry->device);
    entry->pointers_checked.store(true, std::memory_order_relaxed);
  }
  launch_entry(*entry, call);
}

void Context::launch_entry(const KernelEntry& entry, const Call& call) {
  const KernelConfig& config = entry.provided.choice.config;
  const LaunchPlan plan = plan_launch(call.problem, config, *entry.limits);
  const Workspace workspace(options_.allocator, call, plan.workspace_bytes);
  TensorPointers pointers = call.pointers;
  pointers.workspace = workspace.data();
  const AttentionParameters parameters = fill_parameters(call.problem, config, plan, pointers);
  try {
    entry.provided.kernels->launch(plan, parameters, call.stream);
  } catch (const Error& error) {
    if (!entry.provided.kernels->is_loaded()) {
      entry.stale.store(true, std::memory_order_relaxed);
      provider_.forget(config, entry.variant, {entry.key.context, entry.device});
    }
    throw Error(error.code(), error.field(),
                fmt::format("{}; config: {}", error.what(), full_text(config)));
  }
}

Context::Resident Context::make_resident(Problem& problem, const TensorPointers& pointers) {
  problem.variant.alignment = require_alignment(problem, pointers);
  const StreamScope scope(provider_.driver().api(), nullptr);
  const KernelKey key = kernel_key(problem, scope.context());
  const KernelEntry* entry = table_.find(key);
  if (entry != nullptr) return {*entry, true};
  return {resolve(problem, {.key = key}), false};
}

Context::Prepared Context::prepare(Problem problem) {
  require_valid(problem);
  if (is_empty(problem.sizes)) return {};
  const Resident resident = make_resident(problem, {});
  const ProvidedKernels& provided = resident.entry.provided;
  return {provided.choice.match, resident.was_there || provided.from_cache};
}

std::size_t Context::workspace_bytes(Problem problem, const TensorPointers& pointers) {
  require_valid(problem);
  if (is_empty(problem.sizes)) return 0;
  const KernelEntry& entry = make_resident(problem, pointers).entry;
  return plan_launch(problem, entry.provided.choice.config, *entry.limits).workspace_bytes;
}

void Context::quantise(const QuantiseCall& call) {
  const std::size_t needed = Quantiser::workspace_bytes(call.what);
  const StreamScope scope(provider_.driver().api(), call.what.stream);
  const Call memory{.pointers = {.workspace = call.workspace},
                    .workspace_bytes = call.workspace_bytes,
                    .stream = call.what.stream};
  const Workspace workspace(options_.allocator, memory, needed);
  quantiser_.run(call.what, workspace.data());
}

Context::Counters Context::counters() const {
  return {.compiles = provider_.compile_count(),
          .database_reads = provider_.database_reads(),
          .hot_hits = hot_hits_.sum(),
          .misses = misses_.load(std::memory_order_relaxed)};
}

}  // namespace heddle
