// record and regret: what was measured exhaustively, and what searching would have made of it.

#include <cmath>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/db_actions.hpp"
#include "cli/terminal.hpp"
#include "cli/text_file.hpp"
#include "tuner/recording_file.hpp"
#include "tuner/regret_summary.hpp"

namespace heddle {
namespace {

std::string percent(double fraction) {
  return std::isfinite(fraction) ? fmt::format("{:.2f} %", 100 * fraction) : "-";
}

std::string strategy_text(const ProblemRegret::ByStrategy& strategy) {
  return fmt::format("{} of {:.0f}", percent(strategy.mean), strategy.tried);
}

std::vector<std::string> table_row(const ProblemRegret& problem) {
  return {problem.problem,
          std::to_string(problem.legal),
          std::to_string(problem.configs),
          std::to_string(problem.failed),
          std::to_string(problem.fewest_samples),
          percent(problem.by_default),
          percent(problem.predicted_first),
          percent(problem.predicted_eight),
          strategy_text(problem.ranked),
          strategy_text(problem.local),
          strategy_text(problem.random)};
}

nlohmann::json strategy_json(const ProblemRegret::ByStrategy& strategy) {
  return {{"tried", strategy.tried}, {"mean", strategy.mean}, {"worst", strategy.worst}};
}

/// What has no end is written as null, since JSON does not know it.
nlohmann::json to_json(const RegretSummary& summary) {
  auto problems = nlohmann::json::array();
  for (const ProblemRegret& problem : summary.problems) {
    problems.push_back({{"problem", problem.problem},
                        {"legal", problem.legal},
                        {"configs", problem.configs},
                        {"failed", problem.failed},
                        {"fewest_samples", problem.fewest_samples},
                        {"best", canonical_text(problem.best)},
                        {"default", problem.by_default},
                        {"predicted_first", problem.predicted_first},
                        {"predicted_eight", problem.predicted_eight},
                        {"ranked", strategy_json(problem.ranked)},
                        {"local", strategy_json(problem.local)},
                        {"random", strategy_json(problem.random)}});
  }
  return {{"problems", problems},
          {"ranked_mean", summary.ranked_mean},
          {"local_mean", summary.local_mean},
          {"predicted_first_mean", summary.predicted_first_mean},
          {"eight_near_share", summary.eight_near_share}};
}

std::string summary_text(const RegretSummary& summary) {
  std::vector<std::vector<std::string>> table{
      {"problem", "legal", "recorded", "failed", "samples >=", "default", "predicted best",
       "of best 8", "ranked (tried)", "local (tried)", "random (tried)"}};
  for (const ProblemRegret& problem : summary.problems) table.push_back(table_row(problem));
  return fmt::format(
      "Regret: time over that of the best recorded, less 1\n\n{}\n"
      "{} problems; mean of the predicted best {}; within {} of the best among the best 8 "
      "predicted: {:.0f} %\nranked: mean {}, worst {}; local: mean {}, worst {}\n",
      format_table(table), summary.problems.size(), percent(summary.predicted_first_mean),
      percent(kPredictedNear), 100 * summary.eight_near_share, percent(summary.ranked_mean),
      percent(summary.ranked_worst), percent(summary.local_mean), percent(summary.local_worst));
}

std::string problem_text(const Recording& recording) {
  return canonical_text(recording.problem.variant) + ' ' + canonical_text(recording.problem.sizes);
}

/// What other versions have measured is another recording's.
void tell_left_out(const Recording& recording) {
  for (const auto& [versions, rows] : recording.left_out) {
    print_note(
        fmt::format("{} rows by {} are left out: {}", rows, versions, problem_text(recording)));
  }
}

/// Those that can be judged: a search on the way has tried the best predicted only, which flatters
/// it.
bool is_whole(const Recording& recording) {
  const bool whole = static_cast<int>(recording.entries.size()) == recording.legal;
  if (!whole) {
    print_note(fmt::format("left out, {} of {} legal configs are measured by {}: {}",
                           recording.entries.size(), recording.legal, recording.made,
                           problem_text(recording)));
  }
  return whole;
}

}  // namespace

int run_db_record(const DbOptions& options) {
  const ResultsStore store(options.services.results_options());
  std::vector<Recording> whole;
  for (Recording& recording : recordings_of(store.list(), options.made_by)) {
    tell_left_out(recording);
    if (recording.entries.empty()) continue;
    keep_legal(recording);
    if (is_whole(recording)) whole.push_back(std::move(recording));
  }
  write_text_file("file", options.file, recordings_text(whole));
  std::cerr << fmt::format("{} problems written to {}\n", whole.size(), options.file);
  return whole.empty() ? kExitAnswerIsNo : kExitDone;
}

int run_db_regret(const DbOptions& options) {
  std::vector<Recording> recordings;
  for (const std::string& path : options.files) {
    for (Recording& recording : parse_recordings(read_text_file(path), path)) {
      if (std::isinf(recording.best_cost())) {
        print_note(path + ": nothing but failures: " + canonical_text(recording.problem.sizes));
        continue;
      }
      recordings.push_back(std::move(recording));
    }
  }
  if (recordings.empty()) {
    print_note(
        "no problem is recorded there; heddle db record writes those that are measured whole");
    return kExitAnswerIsNo;
  }
  const RegretSummary summary = summarise(recordings);
  std::cout << (options.json ? to_json(summary).dump(2) + '\n' : summary_text(summary));
  return kExitDone;
}

}  // namespace heddle
