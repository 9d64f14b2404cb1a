#include "cli/suites/lengths.hpp"

#include <map>
#include <optional>

#include <fmt/format.h>

#include "cli/suites/sweep.hpp"
#include "generator/error.hpp"

namespace heddle {
namespace {

constexpr const char* kSource = "same_run";
/// Where FA2 is from if it was not in the run.
constexpr const char* kFa2Source = "torch";
/// As bench/compare.py calls those whose rates are columns here.
constexpr const char* kImplementations[] = {"heddle", "cudnn", "flash"};

/// One problem of the sweep.
struct Cell {
  int head_dim = 0;
  MaskKind mask = MaskKind::kFull;
  int length = 0;

  auto operator<=>(const Cell&) const = default;
  Variant variant() const { return {.head_dim = head_dim, .mask = mask}; }
};
/// Figures of others are of the sweep alone.
void require_sweep(const CsvTable& file, std::size_t row, const Cell& cell) {
  const Sizes sweep = sweep_problem(DataType::kBf16, cell.head_dim, cell.mask, cell.length).sizes;
  if (file.number(row, "batch") == sweep.batch && file.number(row, "heads") == sweep.heads &&
      file.text(row, "dtype") == "bf16") {
    return;
  }
  file.refuse(row, "batch",
              fmt::format("with {} heads and {} is not of the sweep (16384 tokens in all, heads * "
                          "head_dim = 2048, bf16); run bench/compare.py with its own --tokens and "
                          "--hidden",
                          file.text(row, "heads"), file.text(row, "dtype")));
}

using Rates = std::map<std::string, double>;  ///< TFLOP/s by implementation

std::map<Cell, Rates> cells_of(const CsvTable& file) {
  std::map<Cell, Rates> cells;
  for (std::size_t row = 0; row < file.size(); ++row) {
    const Variant variant = variant_at(file, row);
    const Cell cell{variant.head_dim, variant.mask, file.whole(row, "length")};
    require_sweep(file, row, cell);
    cells[cell][file.text(row, "implementation")] = file.number(row, "tflops");
  }
  return cells;
}

Value rate_of(const Rates& rates, const std::string& key) {
  const auto found = rates.find(key);
  return found == rates.end() ? Value() : Value(found->second);
}

/// FA3 as another run had it; and carried over to this run by cuDNN, which was in both.
struct Rival {
  Value there;
  Value carried;
};
Rival rival_of(const Cell& cell, const Rates& rates, const Peers& peers) {
  const auto fa3 = peers.forward_tflops("FA3", kSource, cell.variant(), cell.length);
  const auto cudnn = peers.forward_tflops("cuDNN", kSource, cell.variant(), cell.length);
  const auto here = rates.find("cudnn");
  Rival rival;
  if (fa3) rival.there = *fa3;
  if (fa3 && cudnn && here != rates.end()) rival.carried = *fa3 / *cudnn * here->second;
  return rival;
}

/// A line of the plot: a column of the suite's CSV.
struct PlotLine {
  const char* column;
  Series series;
};
const std::vector<PlotLine>& plot_lines() {
  static const std::vector<PlotLine> lines{
      {"heddle", {"heddle", Tint::kBlue}},
      {"fa3", {"FA3 (another run)", Tint::kOrange, true, {}, "FA3"}},
      {"cudnn", {"cuDNN", Tint::kGreen}},
      {"fa2", {"FA2", Tint::kPurple}},
      {"fa2_peer", {"FA2 (another run)", Tint::kPurple, true, {}, "FA2"}}};
  return lines;
}

}  // namespace

BenchSuiteReport lengths_report(const CsvTable& file, const Peers& peers) {
  if (file.size() == 0) {
    throw Error(ErrorCode::kInvalidArgument, "from",
                fmt::format("--from {}: it has no measurements; give what bench/compare.py --csv "
                            "wrote",
                            file.file_name()));
  }
  BenchSuiteReport report;
  report.suite = "lengths";
  report.method = {
      "TFLOP/s; bf16, 16384 tokens in all, heads * head_dim = 2048; as bench/compare.py measured "
      "them, one process, interleaved",
      "FA3: another run's figure; carried: that figure times cuDNN here over cuDNN there"};
  report.table = {{"problem", "heddle", "cuDNN", "FA2", "FA3", "FA3 carried", "heddle / cuDNN",
                   "heddle / FA3 carried", "FA2, another run"}};
  report.records.columns = {"head_dim", "mask", "length",      "heddle",  "cudnn",
                            "fa2",      "fa3",  "fa3_carried", "fa2_peer"};
  for (const auto& [cell, rates] : cells_of(file)) {
    const Rival rival = rival_of(cell, rates, peers);
    const Value other_fa2 =
        value_of(peers.forward_tflops("FA2", kFa2Source, cell.variant(), cell.length));
    std::vector<std::string> row{fmt::format("{} {}", panel_title(cell.variant()), cell.length)};
    std::vector<Value> record{double(cell.head_dim), std::string(enum_name(cell.mask)),
                              double(cell.length)};
    for (const char* implementation : kImplementations) {
      const Value rate = rate_of(rates, implementation);
      row.push_back(shown(rate, "{:.0f}"));
      record.push_back(rate);
    }
    const Value ours = rate_of(rates, "heddle");
    row.insert(row.end(),
               {shown(rival.there, "{:.0f}"), shown(rival.carried, "{:.0f}"),
                shown(quotient(ours, rate_of(rates, "cudnn")), "{:.3f}"),
                shown(quotient(ours, rival.carried), "{:.3f}"), shown(other_fa2, "{:.0f}")});
    record.insert(record.end(), {rival.there, rival.carried, other_fa2});
    report.table.push_back(row);
    report.records.rows.push_back(record);
  }
  report.notes = peers.cited({kSource, kFa2Source});
  return report;
}

Plot lengths_plot(const CsvTable& csv, const Peers& peers) {
  Plot plot{.title = "Attention forward: TFLOP/s over the length of a sequence",
            .x_name = "length, tokens",
            .y_name = "TFLOP/s",
            .logarithmic_x = true};
  plot.about = about_lines("bf16, 16384 tokens in all, heads x head dim = 2048. d: head dim", csv);
  std::vector<Series> lines;
  for (const PlotLine& line : plot_lines()) lines.push_back(line.series);
  bool has_other_fa2 = false;
  for (std::size_t row = 0; row < csv.size(); ++row) {
    Panel& panel = panel_of(plot, panel_title(variant_at(csv, row)), lines);
    const double length = csv.number(row, "length");
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string column = plot_lines()[i].column;
      const auto rate = csv.figure(row, column);
      // FA2 of another run only where this one has none.
      const bool is_other_fa2 = column == "fa2_peer";
      if (is_other_fa2 && csv.figure(row, "fa2")) continue;
      has_other_fa2 = has_other_fa2 || (is_other_fa2 && rate);
      add_point(panel.series[i], length, rate);
    }
  }
  plot.notes.emplace_back("Solid: one run, kernels interleaved.");
  std::vector<std::string> sources{kSource};
  if (has_other_fa2) sources.emplace_back(kFa2Source);
  add_sources(plot,
              fmt::format("Dashed, hollow: measured by others in another run, FA3 by {}{}", kSource,
                          has_other_fa2 ? ", FA2 by " + std::string(kFa2Source) : ""),
              peers, sources);
  add_command(plot, csv);
  return plot;
}

Facts lengths_facts(const CsvTable& file) {
  Facts facts;
  for (const char* name : {"gpu", "driver", "date", "command"}) {
    if (file.size() > 0) facts.emplace_back(name, file.text(0, name));
  }
  return facts;
}

}  // namespace heddle
