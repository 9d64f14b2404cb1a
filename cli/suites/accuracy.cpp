#include "cli/suites/accuracy.hpp"

#include <fmt/format.h>

#include "cli/flags.hpp"
#include "generator/error.hpp"

namespace heddle {
namespace {

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

constexpr std::size_t kPaperInputs = 0;  ///< outliers

/// RMS error of O x 1000.
std::string thousandths(double error) {
  return fmt::format("{:.3g}", 1000 * error);
}

std::string_view distribution_name(std::size_t index) {
  return EnumNames<InputDistribution>::names[index].second;
}

Value published(const Peers& peers, const std::string& recipe) {
  const PeerFigure* figure = find_figure(peers.fp8_error, recipe);
  return figure != nullptr ? Value(figure->most) : Value();
}

}  // namespace

Problem accuracy_problem(const ProblemFlags& flags) {
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
  return problem;
}

BenchSuiteReport accuracy_report(const Problem& problem, const AccuracyTable& table,
                                 const Peers& peers) {
  BenchSuiteReport report;
  report.suite = "fp8-accuracy";
  report.method = {
      fmt::format("RMS error of O x 1000 beside float64 over the same fp16 inputs, seed {}",
                  kAccuracySeed),
      fmt::format("head_dim {}, mask {}, {}", problem.variant.head_dim,
                  enum_name(problem.variant.mask), canonical_text(problem.sizes)),
      "the fp32 baseline, which rounds what kernels round, over quantised inputs; no kernel and no "
      "GPU"};
  std::vector<std::string> header{"x 1000"};
  for (std::size_t i = 0; i < table.output_rms.size(); ++i) {
    header.emplace_back(distribution_name(i));
  }
  header.emplace_back("published, outliers");
  report.table = {header};
  report.records.columns = {"recipe", "inputs",   "rms_error", "output_rms", "published_rms_error",
                            "sizes",  "head_dim", "mask",      "seed"};
  for (const AccuracyRow& row : table.rows) {
    const Value theirs = published(peers, row.recipe);
    std::vector<std::string> line{row.recipe};
    for (std::size_t i = 0; i < row.rms_errors.size(); ++i) {
      line.push_back(thousandths(row.rms_errors[i]));
      report.records.rows.push_back(
          {row.recipe, std::string(distribution_name(i)), row.rms_errors[i], table.output_rms[i],
           i == kPaperInputs ? theirs : Value(), canonical_text(problem.sizes),
           double(problem.variant.head_dim), std::string(enum_name(problem.variant.mask)),
           double(kAccuracySeed)});
    }
    const auto* error = std::get_if<double>(&theirs);
    line.push_back(error != nullptr ? thousandths(*error) : "-");
    report.table.push_back(line);
  }
  std::vector<std::string> last{"O itself"};
  for (const double rms : table.output_rms) last.push_back(thousandths(rms));
  last.emplace_back("-");
  report.table.push_back(last);
  report.notes = peers.cited({"fa3_paper_error"});
  return report;
}

Plot accuracy_plot(const CsvTable& csv, const Peers& peers) {
  Plot plot{.title = "RMS error of O by how Q, K and V were quantised",
            .y_name = "RMS error of O x 1000",
            .logarithmic_y = true,
            .bar_series = {{"heddle", Tint::kBlue}, {"published", Tint::kOrange, true}}};
  std::string shape = "inputs with outliers, as the paper's; fp32 baseline, no kernel";
  if (csv.size() > 0) {
    shape += fmt::format("; head_dim {}, mask {}, {}", csv.text(0, "head_dim"), csv.text(0, "mask"),
                         csv.text(0, "sizes"));
  }
  plot.about = about_lines(shape, csv);
  for (std::size_t row = 0; row < csv.size(); ++row) {
    if (csv.text(row, "inputs") != distribution_name(kPaperInputs)) continue;
    std::string label = csv.text(row, "recipe");
    constexpr std::string_view kScales = ", scales";
    const std::size_t at = label.find(kScales);
    if (at != std::string::npos) label.erase(at, kScales.size());
    BarGroup& group = group_of(plot, label);
    std::size_t series = 0;
    for (const char* column : {"rms_error", "published_rms_error"}) {
      const auto error = csv.figure_or_zero(row, column);
      constexpr double kThousand = 1000;
      if (error) group.bars.emplace_back(series, *error * kThousand);
      ++series;
    }
  }
  add_sources(plot, "published (dashed, hollow): measured by others", peers, {"fa3_paper_error"});
  add_command(plot, csv);
  return plot;
}

}  // namespace heddle
