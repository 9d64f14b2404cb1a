// `heddle explain`: one kernel in depth, or generations side by side.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/explain/choice_evidence.hpp"
#include "cli/explain/explain_json.hpp"
#include "cli/explain/explain_text.hpp"
#include "cli/explain/generations_text.hpp"
#include "cli/explain/timeline_svg.hpp"
#include "cli/flags.hpp"
#include "cli/gpu.hpp"
#include "cli/measure_configs.hpp"
#include "cli/report_data.hpp"
#include "cli/selection.hpp"
#include "cli/terminal.hpp"
#include "cli/text_file.hpp"

namespace heddle {
namespace {

struct ExplainOptions {
  ProblemFlags problem;
  KernelFlags kernel;
  TargetFlags target;
  ServiceFlags services;
  std::vector<std::string> compare;
  std::string svg;
  bool measure = false;
  int samples = 20;
  bool json = false;
};

/// The config that the problem gets, and all that is known of it.
struct Outcome {
  Choice choice;
  bool forced = false;
  std::optional<TransferRegret> regret;
  ChoiceEvidence evidence;
  Explanation explanation;
};

std::string why(const Outcome& outcome) {
  if (outcome.forced) return "you asked for it (--family, --set)";
  return why_chosen(outcome.choice);
}

/// What 8-bit inputs have to beware of; empty with others.
std::string accuracy_note(const Problem& problem) {
  if (problem.variant.dtype != DataType::kE4m3) return {};
  // A prototype on an H200 lost 5, 10 and 18 % of a mean of 1 at 4096, 8192 and 16384 keys.
  constexpr double kLostPerKey = 1.2e-5;
  const double lost = 1 - std::exp(-kLostPerKey * problem.sizes.seqlen_kv);
  return fmt::format(
      "sums of P V keep 14 bits in Hopper's 8-bit products: of a mean that V has, about {:.2g} % "
      "is lost at seqlen_kv={}, unless the quantiser takes it off V and the call gives it back as "
      "value_mean (exact, at no cost); what varies about the mean is safe",
      100 * lost, problem.sizes.seqlen_kv);
}

std::string device_text(const SelectionPlace& place) {
  return fmt::format("{}{}, {} SMs at {} GHz", place.limits.architecture,
                     place.assumed ? " (assumed: no GPU here; --arch names another)" : "",
                     place.limits.sm_count, place.limits.clock_ghz);
}

/// What was measured of the choice, and what the model or the database have to say against it.
std::string evidence_lines(const Outcome& outcome) {
  const ChoiceEvidence& evidence = outcome.evidence;
  std::string text;
  if (evidence.measured) {
    text +=
        fmt::format("stored   {}\n", stored_text(*evidence.measured, outcome.explanation.problem));
  }
  if (evidence.faster) {
    text += fmt::format(
        "model    predicts {} faster: {} ({}); {}\n", enum_name(evidence.faster->config.family),
        format_seconds(evidence.faster->prediction.seconds),
        canonical_text(evidence.faster->config),
        evidence.measured ? "what is measured comes before it" : "heddle tune measures both");
  }
  if (is_transfer(outcome.choice)) text += "regret   " + regret_text(outcome.regret) + '\n';
  for (const PassedOver& other : outcome.choice.passed_over) {
    text += fmt::format("not      {} ({}, {}): {}\n", canonical_text(other.config),
                        enum_name(other.match), canonical_text(other.bucket), other.reason);
  }
  if (evidence.predicted) {
    text += fmt::format(
        "not      {} (predicted for this size, {}): what is measured nearby comes before it\n",
        canonical_text(evidence.predicted->config),
        format_seconds(evidence.predicted->median_seconds));
  }
  return text;
}

void print(const Outcome& outcome, const SelectionPlace& place,
           const std::optional<Timing>& measured) {
  const Explanation& facts = outcome.explanation;
  const Prediction& prediction = facts.prediction;
  std::cout << fmt::format("problem  {}\nkernel   {}\nwhy      {}\n", problem_title(facts.problem),
                           knobs_text(facts.config, facts.problem.variant), why(outcome));
  std::cout << evidence_lines(outcome);
  for (const PartExplanation& part : facts.parts) {
    const PartLaunch& launch = part.launch;
    std::cout << fmt::format("launch   {}: {} blocks of {} threads, {} B shared memory\n",
                             enum_name(launch.part), launch.grid, launch.threads,
                             launch.shared_bytes);
  }
  std::cout << fmt::format(
      "device   {}; {} block(s) per SM at once, {:.2f} waves\n"
      "work     {:.3g} FLOP, {:.3g} B from HBM (at least {:.3g}), workspace {} B\n"
      "predicted {} at {} GHz; lowest ceiling: {}\n",
      device_text(place), prediction.blocks_per_sm, prediction.waves, flop_count(facts.problem),
      prediction.hbm_bytes, minimal_bytes(facts.problem), facts.plan.workspace_bytes,
      format_seconds(prediction.seconds), place.limits.clock_ghz,
      facts.parts.empty() ? "none" : lowest_ceilings(facts.roofline));
  const std::string note = accuracy_note(facts.problem);
  if (!note.empty()) std::cout << "accuracy " << note << '\n';
  std::cout << questions_text(facts) << roofline_text(facts, measured);
}

void print_json(const Outcome& outcome, const std::optional<Timing>& measured) {
  nlohmann::json json = explanation_json(outcome.explanation, measured);
  json["match"] = std::string(enum_name(outcome.choice.match));
  json["why"] = why(outcome);
  if (outcome.regret) {
    json["regret"] = {{"mean", outcome.regret->mean},
                      {"worst", outcome.regret->worst},
                      {"samples", outcome.regret->samples}};
  } else if (is_transfer(outcome.choice)) {
    json["regret"] = nullptr;
  }
  if (const auto& row = outcome.evidence.measured) {
    json["stored"] = {{"seconds", row->median_seconds},
                      {"device", row->device.name},
                      {"when", row->provenance.when}};
  }
  if (const auto& faster = outcome.evidence.faster) {
    json["predicted_faster"] = {{"config", canonical_text(faster->config)},
                                {"seconds", faster->prediction.seconds}};
  }
  const std::string note = accuracy_note(outcome.explanation.problem);
  if (!note.empty()) json["accuracy"] = note;
  for (const PassedOver& other : outcome.choice.passed_over) {
    json["passed_over"].push_back({{"config", canonical_text(other.config)},
                                   {"match", std::string(enum_name(other.match))},
                                   {"bucket", canonical_text(other.bucket)},
                                   {"reason", other.reason}});
  }
  std::cout << json.dump(2) << '\n';
}

/// A panel for each launch that walks tiles.
void add_panels(std::vector<TimelinePanel>& panels, const Explanation& facts) {
  for (const PartExplanation& part : facts.parts) {
    panels.push_back({fmt::format("{}, {} x {} tiles, {} stage(s)", enum_name(part.launch.part),
                                  facts.config.tile_m, facts.config.tile_n, facts.config.stages),
                      fmt::format("{:.0f} cycles a key tile", part.timeline.step_cycles),
                      part.timeline});
  }
}

void write_svg(const ExplainOptions& options, const Problem& problem, const SelectionPlace& place,
               const std::vector<TimelinePanel>& panels) {
  if (options.svg.empty()) return;
  const std::string title = fmt::format("What overlaps what: {}; predicted for {}",
                                        problem_title(problem), place.limits.architecture);
  write_text_file("svg", options.svg, timeline_svg(title, panels));
}

/// One Timing for each config; none without --measure.
std::vector<Timing> measure(const ExplainOptions& options, const Problem& problem,
                            const std::vector<KernelConfig>& configs) {
  if (!options.measure || configs.empty() || is_empty(problem.sizes)) return {};
  const auto device = open_gpu(options.services);
  Compiler compiler(options.services.compiler_options());
  return measure_configs(*device, compiler, problem, configs, options.samples);
}

int explain_one(const ExplainOptions& options, const Problem& problem,
                const SelectionPlace& place) {
  Outcome outcome;
  outcome.forced = options.kernel.any_given();
  outcome.choice = choose_config(options.kernel, options.services, problem, place);
  if (is_transfer(outcome.choice)) {
    outcome.regret = regret_of(options.services, problem, place, outcome.choice);
  }
  if (!outcome.forced) {
    outcome.evidence = evidence_of(options.services, problem, place, outcome.choice);
  }
  outcome.explanation = explain(problem, outcome.choice.config, place.limits);
  const auto timings = measure(options, problem, {outcome.choice.config});
  const auto measured = timings.empty() ? std::nullopt : std::optional(timings.front());
  std::vector<TimelinePanel> panels;
  add_panels(panels, outcome.explanation);
  write_svg(options, problem, place, panels);
  if (options.json) {
    print_json(outcome, measured);
  } else {
    print(outcome, place, measured);
  }
  return kExitDone;
}

std::vector<Family> families_to_compare(const ExplainOptions& options) {
  if (options.kernel.any_given()) {
    throw Error(ErrorCode::kInvalidArgument, "compare",
                "--compare takes the config of each family that is predicted fastest; leave "
                "--family and --set out");
  }
  std::vector<Family> families;
  for (const std::string& given : options.compare) {
    const std::string name = without_blanks(given);
    const auto family = enum_value<Family>(name);
    if (!family || *family == Family::kReference) {
      throw Error(ErrorCode::kInvalidArgument, "compare",
                  fmt::format("--compare: '{}' is no family to compare; choose from unfused, fa1, "
                              "fa2, fa3",
                              name));
    }
    families.push_back(*family);
  }
  return families;
}

int compare(const ExplainOptions& options, const Problem& problem, const SelectionPlace& place) {
  std::vector<Generation> generations;
  std::vector<KernelConfig> configs;
  std::vector<TimelinePanel> panels;
  for (const Family family : families_to_compare(options)) {
    generations.push_back(best_of_family(problem, family, place.limits));
    if (!generations.back().impossible.empty()) continue;
    configs.push_back(generations.back().explanation.config);
    add_panels(panels, generations.back().explanation);
  }
  const auto timings = measure(options, problem, configs);
  std::vector<std::optional<Timing>> measured;
  std::size_t next = 0;
  for (const Generation& generation : generations) {
    if (timings.empty()) break;
    measured.emplace_back();
    if (generation.impossible.empty()) measured.back() = timings[next++];
  }
  write_svg(options, problem, place, panels);
  if (options.json) {
    std::cout << generations_json(generations, measured).dump(2) << '\n';
  } else {
    std::cout << fmt::format("problem  {}\ndevice   {}\n", problem_title(problem),
                             device_text(place))
              << generations_text(generations, measured);
  }
  return configs.empty() ? kExitAnswerIsNo : kExitDone;
}

int run_explain(const ExplainOptions& options) {
  const Problem problem = options.problem.resolve();
  if (options.measure && options.target.given()) {
    throw Error(ErrorCode::kInvalidArgument, "measure",
                "--measure runs on the GPU that is here; leave --arch out");
  }
  const SelectionPlace place = place_of(options.target, options.services);
  if (options.measure && place.assumed) open_gpu(options.services);  // throws what is missing
  return options.compare.empty() ? explain_one(options, problem, place)
                                 : compare(options, problem, place);
}

}  // namespace

void register_explain(const CommandSink& sink) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App& verb =
      sink.add("explain", "which kernel a problem gets, why, how it works, and what bounds it",
               [options] { return run_explain(*options); });
  options->problem.add_to(verb);
  options->kernel.add_to(verb);
  options->target.add_to(verb);
  options->services.add_to(verb);
  verb.add_option("--compare", options->compare,
                  "families side by side (unfused,fa1,fa2,fa3), and what each removes of what "
                  "bound the one before")
      ->delimiter(',');
  verb.add_option("--svg", options->svg, "write the timelines to this file, as SVG");
  verb.add_flag("--measure", options->measure, "measured figures beside the predicted ones");
  verb.add_option("--samples", options->samples, "with --measure: timed launches")
      ->check(CLI::Range(1, kMaxCount));
  verb.add_flag("--json", options->json, "print JSON");
}

}  // namespace heddle
