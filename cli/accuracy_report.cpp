#include "cli/accuracy_report.hpp"

#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/terminal.hpp"
#include "runtime/testing/fp8_accuracy.hpp"

namespace heddle {
namespace {

constexpr std::uint64_t kSeed = 1;

/// Small enough for a few seconds; 4096 is what papers show.
Problem default_problem() {
  Problem problem;
  problem.variant.dtype = DataType::kFp16;
  problem.sizes = {.heads = 4, .seqlen_q = 512, .seqlen_kv = 512};
  return problem;
}

/// The suite goes through types and scales itself.
void require_free_fields(const ProblemFlags& flags) {
  constexpr std::string_view kFree =
      " batch heads kv_heads seqlen_q seqlen_kv scale head_dim mask ";
  for (const std::string& name : flags.names_given()) {
    if (kFree.find(" " + name + " ") != std::string_view::npos) continue;
    throw Error(ErrorCode::kInvalidArgument, name,
                fmt::format("{}: --suite fp8-accuracy goes through all of them; leave it out (it "
                            "takes:{})",
                            name, kFree.substr(0, kFree.size() - 1)));
  }
}

void print(const Problem& problem, const AccuracyTable& table) {
  std::cout << fmt::format(
      "RMS error of O x 1000 beside float64 over the same fp16 inputs, seed {}\n"
      "head_dim {}, {}\n"
      "The fp32 baseline, which rounds what kernels round, over quantised inputs\n\n",
      kSeed, problem.variant.head_dim, canonical_text(problem.sizes));
  const auto line = [](const std::string& name, const auto& cells) {
    std::cout << fmt::format("{:<58}", name);
    for (const auto& cell : cells) std::cout << fmt::format("{:>15}", cell);
    std::cout << '\n';
  };
  const auto thousandths = [](const std::vector<double>& errors) {
    std::vector<std::string> cells;
    for (const double error : errors) cells.push_back(fmt::format("{:.3g}", 1000 * error));
    return cells;
  };
  std::vector<std::string> names;
  for (const auto& [distribution, name] : EnumNames<InputDistribution>::names) {
    names.emplace_back(name);
  }
  line("", names);
  for (const AccuracyRow& row : table.rows) line(row.recipe, thousandths(row.rms_errors));
  line("O itself", thousandths(table.output_rms));
}

void print_json(const Problem& problem, const AccuracyTable& table) {
  const auto by_name = [](const std::vector<double>& errors) {
    nlohmann::json json;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      json[std::string(EnumNames<InputDistribution>::names[i].second)] = errors[i];
    }
    return json;
  };
  nlohmann::json rows = nlohmann::json::array();
  for (const AccuracyRow& row : table.rows) {
    rows.push_back({{"recipe", row.recipe}, {"rms_error", by_name(row.rms_errors)}});
  }
  std::cout << nlohmann::json{{"variant", canonical_text(problem.variant)},
                              {"sizes", canonical_text(problem.sizes)},
                              {"seed", kSeed},
                              {"output_rms", by_name(table.output_rms)},
                              {"rows", rows}}
                   .dump(2)
            << '\n';
}

}  // namespace

int run_accuracy_suite(const ProblemFlags& flags, bool as_json) {
  require_free_fields(flags);
  const Problem problem = flags.apply_to(default_problem());
  Problem quantised = problem;
  quantised.variant.dtype = DataType::kE4m3;
  require(reject_problem(quantised));
  if (is_empty(problem.sizes) || problem.sizes.seqlen_kv == 0) {
    throw Error(ErrorCode::kInvalidArgument, "seqlen_kv",
                "--suite fp8-accuracy: a problem without outputs or keys has no error; give sizes "
                "of 1 or more");
  }
  ProgressLine line(detect_terminal());
  const AccuracyTable table = measure_accuracy(problem, kSeed, [&](int done, int total) {
    if (detect_terminal().interactive) line.update("measuring", done, total);
  });
  line.clear();
  if (as_json) {
    print_json(problem, table);
  } else {
    print(problem, table);
  }
  return kExitDone;
}

}  // namespace heddle
