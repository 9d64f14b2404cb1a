#include <cmath>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/selection.hpp"
#include "cli/terminal.hpp"
#include "generator/cost_model.hpp"

namespace heddle {
namespace {

struct ExplainOptions {
  ProblemFlags problem;
  KernelFlags kernel;
  TargetFlags target;
  ServiceFlags services;
  bool json = false;
};

struct Explanation {
  Problem problem;
  DeviceLimits limits;
  bool assumed_device = false;
  Choice choice;
  bool forced = false;
  std::optional<TransferRegret> regret;
  LaunchPlan plan;
  Prediction prediction;
};

Explanation explain(const ExplainOptions& options) {
  Explanation result;
  result.problem = options.problem.resolve();
  const SelectionPlace place = place_of(options.target, options.services);
  result.limits = place.limits;
  result.assumed_device = place.assumed;
  result.forced = options.kernel.any_given();
  result.choice = choose_config(options.kernel, options.services, result.problem, place);
  if (is_transfer(result.choice)) {
    result.regret = regret_of(options.services, result.problem, place, result.choice);
  }
  result.plan = plan_launch(result.problem, result.choice.config, place.limits);
  result.prediction = predict(result.problem, result.choice.config, place.limits);
  return result;
}

std::string why(const Explanation& result) {
  if (result.forced) return "you asked for it (--family, --set)";
  return why_chosen(result.choice);
}

std::vector<std::pair<std::string, double>> terms(const Prediction& prediction) {
  return {
      {"tensor", prediction.tensor_seconds}, {"exp", prediction.exponential_seconds},
      {"issue", prediction.issue_seconds},   {"shared memory", prediction.shared_memory_seconds},
      {"L2", prediction.l2_seconds},         {"HBM", prediction.hbm_seconds},
      {"launch", prediction.launch_seconds}};
}

/// What 8-bit inputs have to beware of; empty with others.
std::string accuracy_note(const Problem& problem) {
  if (problem.variant.dtype != DataType::kE4m3) return {};
  // A prototype on an H200 lost 5, 10 and 18 % of a mean of 1 at 4096, 8192 and 16384 keys.
  constexpr double kLostPerKey = 1.2e-5;
  const double lost = 1 - std::exp(-kLostPerKey * problem.sizes.seqlen_kv);
  return fmt::format(
      "sums of P V keep 14 bits in Hopper's 8-bit products: of a mean that V has, about {:.2g} % "
      "is "
      "lost at seqlen_kv={}, unless the quantiser takes it off V and the call gives it back as "
      "value_mean (exact, at no cost); what varies about the mean is safe",
      100 * lost, problem.sizes.seqlen_kv);
}

void print(const Explanation& result) {
  const Prediction& prediction = result.prediction;
  std::cout << fmt::format("kernel   {}\nwhy      {}\n", full_text(result.choice.config),
                           why(result));
  if (is_transfer(result.choice)) std::cout << "regret   " << regret_text(result.regret) << '\n';
  for (const PassedOver& other : result.choice.passed_over) {
    std::cout << fmt::format("not      {} ({}, {}): {}\n", canonical_text(other.config),
                             enum_name(other.match), canonical_text(other.bucket), other.reason);
  }
  for (int i = 0; i < result.plan.count; ++i) {
    const PartLaunch& launch = result.plan.launches[static_cast<std::size_t>(i)];
    std::cout << fmt::format("launch   {}: {} blocks of {} threads, {} B shared memory\n",
                             enum_name(launch.part), launch.grid, launch.threads,
                             launch.shared_bytes);
  }
  std::cout << fmt::format(
      "device   {}{}, {} SMs; {} block(s) per SM at once, {:.2f} waves\n"
      "work     {:.3g} FLOP, {:.3g} B from HBM (at least {:.3g}), workspace {} B\n"
      "predicted {}; bound by {}\n",
      result.limits.architecture,
      result.assumed_device ? " (assumed: no GPU here; --arch names another)" : "",
      result.limits.sm_count, prediction.blocks_per_sm, prediction.waves,
      flop_count(result.problem), prediction.hbm_bytes, minimal_bytes(result.problem),
      result.plan.workspace_bytes, format_seconds(prediction.seconds), prediction.binding);
  const std::string note = accuracy_note(result.problem);
  if (!note.empty()) std::cout << "accuracy " << note << '\n';
  std::vector<std::vector<std::string>> rows{{"  if only bound by", "time"}};
  for (const auto& [name, seconds] : terms(prediction)) {
    rows.push_back({"  " + name, format_seconds(seconds)});
  }
  std::cout << format_table(rows);
}

void print_json(const Explanation& result) {
  nlohmann::json json{{"config", canonical_text(result.choice.config)},
                      {"match", std::string(enum_name(result.choice.match))},
                      {"why", why(result)},
                      {"architecture", result.limits.architecture},
                      {"workspace_bytes", result.plan.workspace_bytes},
                      {"num_splits", result.plan.num_splits},
                      {"predicted_seconds", result.prediction.seconds},
                      {"binding", std::string(result.prediction.binding)},
                      {"waves", result.prediction.waves},
                      {"hbm_bytes", result.prediction.hbm_bytes}};
  if (result.regret) {
    json["regret"] = {{"mean", result.regret->mean},
                      {"worst", result.regret->worst},
                      {"samples", result.regret->samples}};
  } else if (is_transfer(result.choice)) {
    json["regret"] = nullptr;
  }
  const std::string note = accuracy_note(result.problem);
  if (!note.empty()) json["accuracy"] = note;
  for (const PassedOver& other : result.choice.passed_over) {
    json["passed_over"].push_back({{"config", canonical_text(other.config)},
                                   {"match", std::string(enum_name(other.match))},
                                   {"bucket", canonical_text(other.bucket)},
                                   {"reason", other.reason}});
  }
  for (const auto& [name, seconds] : terms(result.prediction)) json["terms"][name] = seconds;
  for (int i = 0; i < result.plan.count; ++i) {
    const PartLaunch& launch = result.plan.launches[static_cast<std::size_t>(i)];
    json["launches"].push_back({{"part", std::string(enum_name(launch.part))},
                                {"blocks", launch.grid},
                                {"threads", launch.threads},
                                {"shared_bytes", launch.shared_bytes}});
  }
  std::cout << json.dump(2) << '\n';
}

int run_explain(const ExplainOptions& options) {
  const Explanation result = explain(options);
  if (options.json) {
    print_json(result);
  } else {
    print(result);
  }
  return kExitDone;
}

}  // namespace

void register_explain(const CommandSink& sink) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App& verb = sink.add("explain", "which kernel a problem gets, why, and what bounds it",
                            [options] { return run_explain(*options); });
  options->problem.add_to(verb);
  options->kernel.add_to(verb);
  options->target.add_to(verb);
  options->services.add_to(verb);
  verb.add_flag("--json", options->json, "print JSON");
}

}  // namespace heddle
