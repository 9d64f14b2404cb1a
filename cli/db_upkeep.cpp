// merge, prune, check.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/db_actions.hpp"
#include "cli/text_file.hpp"
#include "tuning_db/database_check.hpp"
#include "tuning_db/results_merge.hpp"

namespace heddle {
namespace {

bool is_yaml(const std::string& path) {
  const auto extension = std::filesystem::path(path).extension();
  return extension == ".yaml" || extension == ".yml";
}

/// The rows of another database, or of an export.
std::vector<Measurement> rows_of_file(const std::string& path) {
  if (is_yaml(path)) return import_yaml(read_text_file(path), path);
  std::string trouble;
  ResultsStore::Options options;
  options.path = path;
  options.read_only = true;
  options.warn = [&](const std::string& message) { trouble = message; };
  const ResultsStore store(options);
  if (store.in_memory()) {
    throw Error(ErrorCode::kInvalidArgument, "file",
                "cannot merge " + (trouble.empty() ? "'" + path + "'" : trouble));
  }
  return store.list();
}

std::string side_text(const Measurement& row) {
  const std::string config = canonical_text(row.config);
  return fmt::format("{} ({})", config.empty() ? "(all defaults)" : config, row.provenance.when);
}

void print_conflicts(const std::vector<MergeConflict>& conflicts, const std::string& path) {
  for (const MergeConflict& conflict : conflicts) {
    std::cout << fmt::format("conflict with {}: {} {} on {}: {} over {}\n", path,
                             canonical_text(conflict.winner.variant),
                             canonical_text(conflict.winner.bucket), conflict.winner.device.name,
                             side_text(conflict.winner), side_text(conflict.other));
  }
}

std::string days_ago(int days) {
  const auto then = std::chrono::system_clock::now() - std::chrono::hours(24) * days;
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(then)));
}

std::string verdict_of(const DatabaseCheck& check) {
  if (!check.exists) return "not there";
  if (check.older) return "of an older schema; the next writer migrates it";
  if (!check.problem.empty()) return "DAMAGED: " + check.problem;
  std::string text = fmt::format("{} rows", check.rows);
  if (check.newer > 0) text += fmt::format(", {} of a newer heddle", check.newer);
  if (check.damaged > 0)
    text += fmt::format(", {} DAMAGED (heddle db prune removes them)", check.damaged);
  return check.sound() ? text + ", sound" : text;
}

nlohmann::json to_json(const std::string& path, const DatabaseCheck& check) {
  return {{"path", path},
          {"exists", check.exists},
          {"rows", check.rows},
          {"older", check.older},
          {"newer", check.newer},
          {"damaged", check.damaged},
          {"problem", check.problem},
          {"sound", check.sound()}};
}

void clear_cubins(const DbOptions& options) {
  CubinStore cubins(options.services.compiler_options().cache);
  cubins.clear();
  std::cout << fmt::format("emptied {}\n", cubins.path());
}

}  // namespace

int run_db_merge(const DbOptions& options) {
  ResultsStore store = open_for_writing(options);
  for (const std::string& path : options.files) {
    const auto theirs = rows_of_file(path);
    const auto ours = store.list();
    print_conflicts(merge_conflicts(ours, theirs), path);
    record_all(store, theirs);
    std::cout << fmt::format("{}: {} rows, {} new\n", path, theirs.size(),
                             store.list().size() - ours.size());
  }
  std::cerr << "merged into " << store.path() << '\n';
  return kExitDone;
}

int run_db_prune(const DbOptions& options) {
  ResultsStore store = open_for_writing(options);
  ResultsStore::Pruning pruning;
  pruning.failures = options.failures;
  if (options.older_than_days > 0) pruning.older_than = days_ago(options.older_than_days);
  const auto pruned = store.prune(pruning);
  if (!pruned) {
    throw Error(ErrorCode::kIo, "results",
                "nothing was pruned: '" + store.path() + "' is in use, read-only or full");
  }
  std::cout << fmt::format("removed {} rows and {} damaged ones, kept {} in {}\n", pruned->removed,
                           pruned->damaged, pruned->kept, store.path());
  if (options.cubins) clear_cubins(options);
  return kExitDone;
}

int run_db_check(const DbOptions& options) {
  const std::string results = options.services.results_options().path;
  const std::string cubins = options.services.compiler_options().cache.path;
  const DatabaseCheck checks[] = {check_results(results), check_cubins(cubins)};
  if (options.json) {
    const nlohmann::json list{to_json(results, checks[0]), to_json(cubins, checks[1])};
    std::cout << list.dump(2) << '\n';
  } else {
    std::cout << fmt::format("results {}: {}\ncubins {}: {}\n", results, verdict_of(checks[0]),
                             cubins, verdict_of(checks[1]));
  }
  return checks[0].sound() && checks[1].sound() ? kExitDone : kExitAnswerIsNo;
}

}  // namespace heddle
