#include "cli/flags.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/problem_file.hpp"
#include "generator/candidates.hpp"
#include "generator/legality.hpp"
#include "runtime/driver.hpp"

namespace heddle {
namespace {

/// What a problem is when nothing is said: small enough for any GPU, large enough to be typical.
Problem typical_problem() {
  Problem problem;
  problem.sizes.heads = 16;
  problem.sizes.seqlen_q = 1024;
  return problem;
}

template <class Struct>
bool set_if_known(Struct& object, const std::string& name, const std::string& text) {
  bool known = false;
  for_each_field(object, [&](const auto& entry, const auto&) { known |= entry.name == name; });
  if (known) set_field(object, name, text);
  return known;
}

/// The family with its knobs as they are where nobody says otherwise, if that is legal.
KernelConfig plain_config(Family family, const Problem& problem, const DeviceLimits& limits) {
  KernelConfig config;
  config.family = family;
  if (!reject(problem.variant, config, limits)) return config;
  const auto candidates = enumerate_candidates(problem.variant, limits, family);
  return candidates.empty() ? config : candidates.front();
}

}  // namespace

KernelConfig family_default(Family family, const Problem& problem, const DeviceLimits& limits) {
  const SizeBucket bucket = bucket_of(problem.sizes);
  if (const auto usual = default_config(family, problem.variant, bucket, limits)) return *usual;
  return plain_config(family, problem, limits);
}

std::string wrong_seconds(const std::string& text) {
  double seconds = 0;  // which NaN is not above
  if (parse_value(text, seconds) && seconds > 0 && seconds <= kMaxCount) return {};
  return fmt::format("'{}' is no number of seconds above 0, up to {}", text, kMaxCount);
}

std::string wrong_budget(const std::string& text) {
  double seconds = -1;
  if (parse_value(text, seconds) && seconds == 0) return {};
  const std::string wrong = wrong_seconds(text);
  return wrong.empty() ? wrong : wrong + "; 0 = no limit";
}

std::string flag_name(std::string_view field_name) {
  std::string name(field_name);
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

std::string problem_flags_text(const Problem& problem) {
  std::string text;
  const auto add = [&](const auto& entry, const auto& value) {
    text += (text.empty() ? "" : " ") + flag_name(entry.name) + ' ' + value_text(value);
  };
  for_each_field(problem.sizes, add);  // all: the command's defaults are not the struct's
  const Variant neutral;
  for_each_field(problem.variant, [&](const auto& entry, const auto& value) {
    if (!(value == neutral.*(entry.member))) add(entry, value);
  });
  return text;
}

void set_problem_field(Problem& problem, const std::string& name, const std::string& text) {
  if (set_if_known(problem.sizes, name, text)) return;
  if (set_if_known(problem.variant, name, text)) return;
  throw Error(ErrorCode::kInvalidArgument, name,
              "unknown field '" + name + "' (value '" + text +
                  "'); known fields: " + field_names<Sizes>() + ", " + field_names<Variant>());
}

void ProblemFlags::add_to(CLI::App& app) {
  const auto add = [&](const auto& entry, const auto&) {
    const std::string name(entry.name);
    app.add_option_function<std::string>(
           flag_name(name), [this, name](const std::string& text) { given_[name] = text; },
           std::string(entry.description))
        ->group("Problem");
  };
  for_each_field(Sizes{}, add);
  for_each_field(Variant{}, add);
  app.add_option("--problem", file_, "YAML file with the same names as these flags")
      ->group("Problem");
}

Problem ProblemFlags::apply_to(Problem base) const {
  const auto assign = [&](const std::string& name, const std::string& text) {
    set_problem_field(base, name, text);
  };
  if (!file_.empty()) read_problem_file(file_, assign);
  for (const auto& [name, text] : given_) assign(name, text);
  return base;
}

std::set<std::string> ProblemFlags::names_given() const {
  std::set<std::string> names;
  const auto note = [&](const std::string& name, const std::string&) { names.insert(name); };
  if (!file_.empty()) read_problem_file(file_, note);
  for (const auto& [name, text] : given_) names.insert(name);
  return names;
}

Problem ProblemFlags::resolve() const {
  Problem problem = apply_to(typical_problem());
  if (names_given().count("seqlen_kv") == 0) problem.sizes.seqlen_kv = problem.sizes.seqlen_q;
  require(reject_problem(problem));
  return problem;
}

std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

void KernelFlags::add_to(CLI::App& app) {
  app.add_option("--family", family_, "kernel family: " + enum_choices<Family>())->group("Kernel");
  app.add_option("--set", knobs_, "knob=value; knobs: " + field_names<KernelConfig>())
      ->group("Kernel");
}

KernelConfig KernelFlags::before_knobs(const Problem& problem, const DeviceLimits& limits) const {
  if (!family_.empty()) {
    KernelConfig config;
    set_field(config, "family", family_);
    // Knobs are set beside the plain ones of a family: what it is tuned to be may not go with them.
    return (knobs_.empty() ? family_default : plain_config)(config.family, problem, limits);
  }
  const KernelConfig usual = default_config(problem.variant, bucket_of(problem.sizes), limits);
  KernelConfig asked;
  set_knobs(asked);
  return asked.split_kv ? with_split_keys(usual) : usual;
}

void KernelFlags::set_knobs(KernelConfig& config) const {
  for (const std::string& knob : knobs_) {
    for_each_assignment(without_blanks(knob), [&](std::string_view name, std::string_view value) {
      set_field(config, name, value);
    });
  }
}

KernelConfig KernelFlags::resolve(const Problem& problem, const DeviceLimits& limits) const {
  KernelConfig config = before_knobs(problem, limits);
  set_knobs(config);
  return config;
}

KernelConfig KernelFlags::resolve_runnable(const Problem& problem,
                                           const DeviceLimits& limits) const {
  KernelConfig config = resolve(problem, limits);
  if (config.family != Family::kReference) return config;
  throw Error(ErrorCode::kInvalidArgument, "family",
              "--family reference only checks the others; choose unfused, fa1, fa2 or fa3");
}

std::vector<Family> KernelFlags::families() const {
  if (!knobs_.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "set",
                "--set " + knobs_.front() + ": the suite draws knobs itself; leave --set out");
  }
  if (family_.empty()) return {};
  KernelConfig config;
  set_field(config, "family", family_);
  return {config.family};
}

void TargetFlags::add_to(CLI::App& app) {
  app.add_option("--arch", architecture_, "architecture to compile for (sm_80 … sm_90a …)")
      ->group("Target");
}

DeviceLimits TargetFlags::resolve() const {
  if (given()) return find_architecture(architecture_);
  try {
    return Driver::load("")->device_limits(0);
  } catch (const Error&) {
    return find_architecture("sm_90a");
  }
}

}  // namespace heddle
