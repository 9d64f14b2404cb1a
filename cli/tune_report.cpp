#include "cli/tune_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/terminal.hpp"

namespace heddle {
namespace {

double seconds_of(const Candidate& candidate, bool predicted) {
  return predicted ? candidate.prediction.seconds : candidate.timing->median_seconds;
}

std::string tflops(const Problem& problem, double seconds) {
  return fmt::format("{:.1f}", flop_count(problem) / seconds * 1e-12);
}

std::string against_default(const TuneReport& report) {
  if (!report.winner || !report.baseline) return "-";
  const double ratio =
      seconds_of(*report.baseline, report.predicted) / seconds_of(*report.winner, report.predicted);
  return fmt::format("{:.2f}x", ratio);
}

std::vector<std::string> table_row(const TuneReport& report) {
  std::vector<std::string> row{report.problem.name, std::to_string(report.legal),
                               std::to_string(report.compiled),
                               report.predicted ? "-" : std::to_string(report.checked),
                               report.predicted ? "-" : std::to_string(report.measured)};
  if (!report.winner) {
    row.insert(row.end(), {"-", "-", "-", "no valid configuration"});
    return row;
  }
  const double seconds = seconds_of(*report.winner, report.predicted);
  row.insert(row.end(), {format_seconds(seconds), tflops(report.problem.problem, seconds),
                         against_default(report), canonical_text(report.winner->config)});
  if (row.back().empty()) row.back() = "family=fa2 (all defaults)";
  return row;
}

/// How the search went, where that is worth a line.
std::string course_text(const TuneReport& report) {
  const std::string& name = report.problem.name;
  std::string text;
  if (report.known > 0) {
    text += fmt::format("{}: {} known from earlier runs (--fresh measures them anew)\n", name,
                        report.known);
  }
  if (report.lost_workers > 0) {
    text += fmt::format("{}: {} worker(s) lost to candidates\n", name, report.lost_workers);
  }
  if (report.earlier) {
    return text + name + ": tuned to its end by an earlier run (--fresh tunes it anew)\n";
  }
  if (report.predicted || !report.winner) return text;
  if (!report.stopped.empty()) text += fmt::format("{}: stopped: {}\n", name, report.stopped);
  if (!report.finished) return text + name + ": not finished: the best so far\n";
  if (report.part) {
    text += name + ": a part of the candidates: none is chosen before all parts are merged\n";
  }
  return text + fmt::format("{}: noise floor {:.2f} % (two copies of one kernel)\n", name,
                            100 * report.noise);
}

nlohmann::json candidate_json(const Candidate& candidate, bool predicted) {
  nlohmann::json json{{"config", canonical_text(candidate.config)},
                      {"seconds", seconds_of(candidate, predicted)},
                      {"predicted_seconds", candidate.prediction.seconds},
                      {"binding", std::string(candidate.prediction.binding)}};
  if (candidate.timing) {
    json["spread_seconds"] = candidate.timing->spread_seconds;
    json["clock_mhz"] = candidate.timing->clock_mhz;
  }
  if (candidate.check) {
    json["check"] = {{"passed", candidate.check->passed},
                     {"max_error", candidate.check->max_error},
                     {"baseline_max_error", candidate.check->baseline_max_error}};
  }
  return json;
}

}  // namespace

std::string reports_table(const std::vector<TuneReport>& reports, const DeviceClass& device) {
  const bool predicted = !reports.empty() && reports.front().predicted;
  std::vector<std::vector<std::string>> rows{{"problem", "legal", "compiled", "checked", "measured",
                                              predicted ? "predicted" : "time", "TFLOP/s",
                                              "vs default", "winner"}};
  for (const TuneReport& report : reports) rows.push_back(table_row(report));
  std::string text =
      fmt::format("{}, {} SMs{}\n\n", device.name, device.sm_count,
                  predicted ? "; PREDICTED by the cost model, no kernel was run" : "; measured");
  text += format_table(rows);
  for (const TuneReport& report : reports) {
    for (const std::string& failure : report.failures) {
      text += fmt::format("{}: rejected {}\n", report.problem.name, failure);
    }
    text += course_text(report);
  }
  return text;
}

std::string reports_json(const std::vector<TuneReport>& reports) {
  auto list = nlohmann::json::array();
  for (const TuneReport& report : reports) {
    nlohmann::json json{{"problem", report.problem.name},
                        {"variant", canonical_text(report.problem.problem.variant)},
                        {"sizes", canonical_text(report.problem.problem.sizes)},
                        {"legal", report.legal},
                        {"compiled", report.compiled},
                        {"checked", report.checked},
                        {"measured", report.measured},
                        {"evidence", report.predicted ? "predicted" : "measured"},
                        {"known", report.known},
                        {"earlier", report.earlier},
                        {"finished", report.finished},
                        {"stopped", report.stopped},
                        {"lost_workers", report.lost_workers},
                        {"noise", report.noise},
                        {"failures", report.failures}};
    if (report.winner) json["winner"] = candidate_json(*report.winner, report.predicted);
    if (report.baseline) json["default"] = candidate_json(*report.baseline, report.predicted);
    list.push_back(json);
  }
  return list.dump(2) + "\n";
}

std::string where_stored(const ResultsStore& store) {
  if (store.in_memory()) return {};
  if (store.state() == StorageState::kFile && store.unwritten_count() == 0) {
    return "stored in " + store.path();
  }
  return fmt::format(
      "not stored: {} row(s) could not be written to {}; make it writable, or name another file "
      "with --results",
      store.unwritten_count(), store.path());
}

}  // namespace heddle
