#include "runtime/kernel_provider.hpp"

#include <exception>
#include <vector>

#include <fmt/format.h>

#include "generator/emit.hpp"
#include "generator/kernel_part.hpp"

namespace heddle {
namespace {

ResultsStore::Options results_options(const KernelProvider::Options& options) {
  ResultsStore::Options result;
  result.path = options.results_path;
  result.warn = options.log;
  return result;
}

Compiler::Options compiler_options(const KernelProvider::Options& options) {
  Compiler::Options result;
  result.nvrtc_path = options.nvrtc_path;
  result.cache.path = options.cache_path;
  result.cache.warn = options.log;
  result.cache_only = !options.use_jit;
  result.memory_bytes = options.compiled_bytes;
  return result;
}

/// ';' separates: canonical texts percent-encode nothing into it and hold none of their own.
std::string resident_key(const Variant& variant, const KernelConfig& config,
                         DriverContext context) {
  return fmt::format("{};{};{}", context, canonical_text(variant), canonical_text(config));
}

}  // namespace

struct KernelProvider::CompiledParts {
  std::vector<std::shared_ptr<const CompiledKernel>> kernels;
  std::vector<KernelImage> images;  ///< views into them
  bool from_cache = true;
  std::optional<Rejection> rejection;  ///< the first for what the compiler said
};

KernelProvider::KernelProvider(const Options& options)
    : log_(options.log),
      driver_(Driver::load(options.driver_path)),
      results_(results_options(options)),
      compiler_(compiler_options(options)) {}

KernelProvider::~KernelProvider() = default;

void KernelProvider::log(const std::string& line) const {
  if (log_) log_(line);
}

const KernelProvider::DeviceFacts& KernelProvider::facts(int device) {
  const std::lock_guard lock(mutex_);
  const auto known = devices_.find(device);
  if (known != devices_.end()) return known->second;
  DeviceFacts found{driver_->device_limits(device), driver_->device_class(device)};
  return devices_.emplace(device, std::move(found)).first->second;
}

const DeviceLimits& KernelProvider::limits(int device) {
  return facts(device).limits;
}

SelectionTarget KernelProvider::selection_target(int device) {
  const DeviceFacts& known = facts(device);
  return {.limits = &known.limits, .device = &known.device_class};
}

Choice KernelProvider::choose(const SelectionQuestion& question, int device) {
  return select(question, selection_target(device), &results_);
}

std::optional<TransferRegret> KernelProvider::regret(const SelectionQuestion& question,
                                                     const Choice& choice, int device) {
  return measured_regret(question, selection_target(device), results_, choice);
}

/// What failed so far, and how it began.
struct KernelProvider::Attempts {
  std::vector<PassedOver> failed;
  std::exception_ptr first;
};

std::optional<ProvidedKernels> KernelProvider::attempt(const Variant& variant, const Choice& choice,
                                                       const LoadTarget& target,
                                                       Attempts& attempts) {
  try {
    return load(variant, choice, target);
  } catch (const Error& error) {
    log(fmt::format("{}; trying the next config instead of {}", error.what(),
                    full_text(choice.config)));
    attempts.failed.push_back({choice.config, choice.match, error.what(), choice.bucket});
    if (!attempts.first) attempts.first = std::current_exception();
    return std::nullopt;
  }
}

ProvidedKernels KernelProvider::provide(const SelectionQuestion& question, const Choice& choice,
                                        const LoadTarget& target) {
  Attempts attempts;
  Choice next = choice;
  while (true) {
    if (auto provided = attempt(question.variant, next, target, attempts)) return *provided;
    if (next.match == Match::kDefault) break;
    // A read of the database, but beside a compile that failed; a later call finds the kernels.
    next = select(question, selection_target(target.device), &results_, attempts.failed);
    if (next.match == Match::kDefault) break;
  }
  for (Choice& other : fallbacks(question, selection_target(target.device), attempts.failed)) {
    other.passed_over = next.passed_over;
    if (auto provided = attempt(question.variant, other, target, attempts)) return *provided;
  }
  std::rethrow_exception(attempts.first);
}

ProvidedKernels KernelProvider::load(const Variant& variant, const Choice& choice,
                                     const LoadTarget& target) {
  const std::string key = resident_key(variant, choice.config, target.context);
  {
    const std::lock_guard lock(mutex_);
    const auto resident = resident_.find(key);
    if (resident != resident_.end()) return {choice, resident->second, true};
  }
  const CompiledParts parts = compile_parts(variant, choice.config, limits(target.device));
  if (parts.rejection) weigh_rejection(choice, *parts.rejection);
  auto loaded = std::make_shared<const LoadedConfig>(driver_, target.context, parts.images);
  const std::lock_guard lock(mutex_);
  // Another thread may have been faster with another bucket of this variant; one copy stays.
  const auto [resident, is_new] = resident_.emplace(key, std::move(loaded));
  return {choice, resident->second, parts.from_cache};
}

/// Another compiler than the tuner's may spill or serialise a stored config: then the default is
/// the better guess. The default itself is right, only slower, and there is nothing to put in its
/// place.
void KernelProvider::weigh_rejection(const Choice& choice, const Rejection& rejection) const {
  const std::string text =
      fmt::format("config {}: {}: {}", full_text(choice.config), rejection.field, rejection.reason);
  if (choice.match != Match::kDefault) {
    throw Error(ErrorCode::kNoLegalConfig, rejection.field, text);
  }
  log(text + "; served all the same, as the default");
}

KernelProvider::CompiledParts KernelProvider::compile_parts(const Variant& variant,
                                                            const KernelConfig& config,
                                                            const DeviceLimits& limits) {
  CompiledParts parts;
  for (const KernelPart part : kernel_parts(config)) {
    auto compiled = compiler_.compile(emit(variant, config, part, limits));
    parts.images.push_back({.part = part,
                            .entry = compiled->entry,
                            .cubin = compiled->cubin,
                            .shared_bytes = part_footprint(variant, config, part).shared_bytes,
                            .architecture = limits.architecture,
                            .compiler = "NVRTC",
                            .draws_tiles = config.scheduler == TileScheduler::kDynamic});
    parts.from_cache = parts.from_cache && compiled->from_cache;
    if (!parts.rejection) parts.rejection = reject_notes(compiled->notes);
    parts.kernels.push_back(std::move(compiled));
  }
  return parts;
}

void KernelProvider::forget(const KernelConfig& config, const Variant& variant,
                            const LoadTarget& target) {
  const std::lock_guard lock(mutex_);
  resident_.erase(resident_key(variant, config, target.context));
}

}  // namespace heddle
