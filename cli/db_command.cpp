#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/db_actions.hpp"
#include "cli/flags.hpp"
#include "cli/report_page.hpp"
#include "cli/terminal.hpp"
#include "cli/text_file.hpp"

namespace heddle {
namespace {

std::string problem_text(const Measurement& row) {
  return fmt::format("{} {}", canonical_text(row.variant), canonical_text(row.bucket));
}

std::vector<Measurement> rows_of(const DbOptions& options) {
  std::vector<Measurement> rows;
  if (options.shipped) {
    rows = shipped_entries();
    if (!options.all) std::erase_if(rows, [](const Measurement& row) { return !row.chosen; });
  } else {
    const ResultsStore store(options.services.results_options());
    rows = options.all ? store.list() : store.winners();
  }
  std::erase_if(rows, [&](const Measurement& row) {
    return !options.filter.empty() &&
           (problem_text(row) + canonical_text(row.config)).find(options.filter) ==
               std::string::npos;
  });
  return rows;
}

int run_list(const DbOptions& options) {
  std::vector<std::vector<std::string>> table{
      {"device", "variant", "bucket", "evidence", "time", "config"}};
  const auto rows = rows_of(options);
  if (rows.empty() && !options.shipped) {
    print_note("nothing of your own; --shipped shows the winners that come with heddle");
  }
  for (const Measurement& row : rows) {
    const bool failed = row.evidence == Evidence::kFailed;
    table.push_back({fmt::format("{} ({} SMs)", row.device.name, row.device.sm_count),
                     canonical_text(row.variant), canonical_text(row.bucket),
                     std::string(enum_name(row.evidence)),
                     failed ? "-" : format_seconds(row.median_seconds),
                     canonical_text(row.config)});
  }
  std::cout << format_table(table);
  return kExitDone;
}

void print_row(const Measurement& row) {
  std::cout << fmt::format(
      "problem   {}\n  sizes   {}\n  device  {}, capability {}.{}, {} SMs\n  config  {}\n"
      "  {}   {} (spread {}, {} samples, {:.0f} MHz)\n",
      problem_text(row), canonical_text(row.sizes), row.device.name, row.device.capability_major,
      row.device.capability_minor, row.device.sm_count, full_text(row.config),
      enum_name(row.evidence), format_seconds(row.median_seconds),
      format_seconds(row.spread_seconds), row.samples, row.clock_mhz);
  if (row.evidence == Evidence::kMeasured) {
    std::cout << fmt::format(
        "  course  {}, {:.3f} of the default's time, {} registers, {} B of spills{}\n",
        row.chosen ? "chosen" : "not chosen", row.relative, row.registers, row.spill_bytes,
        row.warm ? ", inputs in L2" : "");
  }
  if (row.check) {
    std::cout << fmt::format("  check   {}: max error {:.3e} against {:.3e} of the baseline\n",
                             row.check->passed ? "passed" : "FAILED", row.check->max_error,
                             row.check->baseline_max_error);
  }
  if (!row.failure.empty()) std::cout << "  failure " << row.failure << '\n';
  std::cout << fmt::format("  by      heddle {}, driver {}, NVRTC {}, {}\n\n",
                           row.provenance.heddle_version, row.provenance.driver_version,
                           row.provenance.nvrtc_version, row.provenance.when);
}

int run_show(const DbOptions& options) {
  const auto rows = rows_of(options);
  for (const Measurement& row : rows) print_row(row);
  if (rows.empty()) std::cerr << "heddle: nothing matches\n";
  return rows.empty() ? kExitAnswerIsNo : kExitDone;
}

int run_export(const DbOptions& options) {
  const std::string text = export_yaml(rows_of(options));
  if (options.file.empty() || options.file == "-") {
    std::cout << text;
  } else {
    write_text_file("file", options.file, text);
  }
  return kExitDone;
}

int run_import(const DbOptions& options) {
  const auto rows = import_yaml(read_text_file(options.file), options.file);
  ResultsStore store = open_for_writing(options);
  record_all(store, rows);
  std::cerr << fmt::format("imported {} rows into {}\n", rows.size(), store.path());
  return kExitDone;
}

int run_report(const DbOptions& options) {
  DbOptions every = options;
  every.all = true;
  write_text_file("file", options.file, report_page(rows_of(every)));
  std::cerr << "written to " << options.file << '\n';
  return kExitDone;
}

CLI::App& add_action(CLI::App& verb, const std::shared_ptr<DbOptions>& options,
                     const std::string& name, const std::string& help) {
  CLI::App* action = verb.add_subcommand(name, help);
  options->services.add_to(*action);
  return *action;
}

void add_row_flags(CLI::App& action, const std::shared_ptr<DbOptions>& options) {
  action.add_flag("--all", options->all, "every row, not only the winners");
  action.add_flag("--shipped", options->shipped,
                  "those that come with heddle, instead of your own");
  action.add_option("--filter", options->filter, "only rows whose problem or config contains this");
}

}  // namespace

ResultsStore open_for_writing(const DbOptions& options) {
  ResultsStore store(options.services.results_options());
  if (!store.in_memory()) return store;
  throw Error(ErrorCode::kIo, "results",
              "the results database '" + options.services.results_options().path +
                  "' cannot be written; choose another with --results or $HEDDLE_DB");
}

void record_all(ResultsStore& store, const std::vector<Measurement>& rows) {
  store.record(rows);
  if (store.unwritten_count() == 0) return;
  throw Error(ErrorCode::kIo, "results",
              fmt::format("{} of {} rows could not be written to '{}' (in use, read-only or full); "
                          "try again, or choose another with --results or $HEDDLE_DB",
                          store.unwritten_count(), rows.size(), store.path()));
}

void register_db(const CommandSink& sink) {
  auto options = std::make_shared<DbOptions>();
  auto action = std::make_shared<int (*)(const DbOptions&)>(nullptr);
  CLI::App& verb = sink.add(
      "db",
      "the database of measurements: list, show, export, import, merge, prune, check, report, "
      "record, regret",
      [options, action] { return (*action)(*options); });
  verb.require_subcommand(1);
  CLI::App& list = add_action(verb, options, "list", "a line per winner");
  add_row_flags(list, options);
  list.callback([action] { *action = run_list; });
  CLI::App& show = add_action(verb, options, "show", "everything about each winner");
  add_row_flags(show, options);
  show.callback([action] { *action = run_show; });
  CLI::App& exporting = add_action(verb, options, "export", "YAML to a file or standard output");
  add_row_flags(exporting, options);
  exporting.add_option("file", options->file, "where to write (default: standard output)");
  exporting.callback([action] { *action = run_export; });
  CLI::App& importing = add_action(verb, options, "import", "add the rows of a YAML file");
  importing.add_option("file", options->file, "what to read")->required();
  importing.callback([action] { *action = run_import; });
  CLI::App& merging =
      add_action(verb, options, "merge",
                 "add the rows of other databases or YAML files; the newest evidence wins");
  merging.add_option("files", options->files, "databases, or .yaml files")
      ->required()
      ->check(CLI::ExistingFile);
  merging.callback([action] { *action = run_db_merge; });
  CLI::App& pruning = add_action(verb, options, "prune",
                                 "remove rows that newer evidence replaces, and damaged ones");
  pruning.add_flag("--failures", options->failures,
                   "remove failures too, so that those candidates are tried again");
  pruning
      .add_option("--older-than", options->older_than_days,
                  "days; remove older rows too, winners and failed checks apart")
      ->check(CLI::Range(1, kMaxCount));
  pruning.add_flag("--cubins", options->cubins, "empty the cache of compiled kernels as well");
  pruning.callback([action] { *action = run_db_prune; });
  CLI::App& reporting = add_action(verb, options, "report", "a page about every tuning, as HTML");
  reporting.add_option("-o,--output", options->file, "where to write")->required();
  reporting.add_option("--filter", options->filter,
                       "only rows whose problem or config contains this");
  reporting.callback([action] { *action = run_report; });
  CLI::App& recording = add_action(verb, options, "record",
                                   "problems that are measured exhaustively, as text to replay");
  recording.add_option("-o,--output", options->file, "where to write")->required();
  recording.add_option("--made-by", options->made_by,
                       "only rows by a 'heddle …, driver …, NVRTC …' that contains this (default: "
                       "of each problem those by the newest)");
  recording.callback([action] { *action = run_db_record; });
  CLI::App& regretting = add_action(
      verb, options, "regret", "what each way of searching would have cost on recorded problems");
  regretting.add_option("files", options->files, "what db record wrote")
      ->required()
      ->check(CLI::ExistingFile);
  regretting.add_flag("--json", options->json, "print JSON");
  regretting.callback([action] { *action = run_db_regret; });
  CLI::App& checking = add_action(verb, options, "check", "whether both databases are sound");
  checking.add_flag("--json", options->json, "print JSON");
  checking.callback([action] { *action = run_db_check; });
}

}  // namespace heddle
