#include "cli/suites/lengths.hpp"

#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "cli/suites/sweep.hpp"
#include "generator/error.hpp"

namespace heddle {
namespace {

constexpr const char* kSource = "same_run";
/// Names of bench/compare.py, names for people.
struct Implementation {
  const char* key;
  const char* name;
  Tint tint;
};
constexpr Implementation kImplementations[] = {{"heddle", "heddle", Tint::kBlue},
                                               {"cudnn", "cuDNN", Tint::kGreen},
                                               {"flash", "FA2", Tint::kPurple}};

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
  throw Error(
      ErrorCode::kInvalidArgument, "from",
      fmt::format("--from: row {}: batch {}, {} heads, {} is not of the sweep (16384 tokens "
                  "in all, heads * head_dim = 2048, bf16); run bench/compare.py with its "
                  "own --tokens and --hidden",
                  row + 1, file.text(row, "batch"), file.text(row, "heads"),
                  file.text(row, "dtype")));
}

using Rates = std::map<std::string, double>;  ///< TFLOP/s by implementation

/// A whole number that an int holds.
int whole(const CsvTable& file, std::size_t row, const std::string& column) {
  const double number = file.number(row, column);
  if (number >= 1 && number <= 1e9 && number == std::floor(number)) return static_cast<int>(number);
  throw Error(ErrorCode::kInvalidArgument, column,
              fmt::format("row {}: {} {} is no whole number from 1 to 1e9", row + 1, column,
                          file.text(row, column)));
}

std::map<Cell, Rates> cells_of(const CsvTable& file) {
  std::map<Cell, Rates> cells;
  for (std::size_t row = 0; row < file.size(); ++row) {
    const auto mask = enum_value<MaskKind>(file.text(row, "mask"));
    if (!mask) {
      throw Error(ErrorCode::kInvalidArgument, "mask",
                  fmt::format("row {}: mask '{}' is neither full nor causal", row + 1,
                              file.text(row, "mask")));
    }
    const Cell cell{whole(file, row, "head_dim"), *mask, whole(file, row, "length")};
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

Panel empty_panel(const Variant& variant) {
  Panel panel{panel_title(variant), {}};
  for (const Implementation& entry : kImplementations) {
    panel.series.push_back({entry.name, entry.tint});
  }
  panel.series.push_back({"FA3 (another run)", Tint::kOrange, true});
  return panel;
}

void add_point(Series& series, int length, const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) {
    series.points.emplace_back(length, *number);
  }
}

}  // namespace

BenchSuiteReport lengths_report(const CsvTable& file, const Peers& peers) {
  if (file.size() == 0) {
    throw Error(ErrorCode::kInvalidArgument, "from", "--from: the file has no measurements");
  }
  BenchSuiteReport report;
  report.suite = "lengths";
  report.method = {
      "TFLOP/s; bf16, 16384 tokens in all, heads * head_dim = 2048; as bench/compare.py measured "
      "them, one process, interleaved",
      "FA3: another run's figure; carried: that figure times cuDNN here over cuDNN there"};
  report.table = {{"problem", "heddle", "cuDNN", "FA2", "FA3", "FA3 carried", "heddle / cuDNN",
                   "heddle / FA3 carried"}};
  report.records.columns = {"head_dim", "mask", "length", "heddle",
                            "cudnn",    "fa2",  "fa3",    "fa3_carried"};
  report.plot = {.title = "Attention forward on " + file.text(0, "gpu"),
                 .x_name = "length",
                 .y_name = "TFLOP/s",
                 .logarithmic_x = true};
  for (const auto& [cell, rates] : cells_of(file)) {
    const std::string title = panel_title(cell.variant());
    if (report.plot.panels.empty() || report.plot.panels.back().title != title) {
      report.plot.panels.push_back(empty_panel(cell.variant()));
    }
    Panel& panel = report.plot.panels.back();
    const Rival rival = rival_of(cell, rates, peers);
    std::vector<std::string> row{fmt::format("{} {}", title, cell.length)};
    std::vector<Value> record{double(cell.head_dim), std::string(enum_name(cell.mask)),
                              double(cell.length)};
    for (std::size_t i = 0; i < std::size(kImplementations); ++i) {
      const Value rate = rate_of(rates, kImplementations[i].key);
      add_point(panel.series[i], cell.length, rate);
      row.push_back(shown(rate, "{:.0f}"));
      record.push_back(rate);
    }
    add_point(panel.series.back(), cell.length, rival.there);
    const Value ours = rate_of(rates, "heddle");
    row.insert(row.end(), {shown(rival.there, "{:.0f}"), shown(rival.carried, "{:.0f}"),
                           shown(quotient(ours, rate_of(rates, "cudnn")), "{:.3f}"),
                           shown(quotient(ours, rival.carried), "{:.3f}")});
    record.insert(record.end(), {rival.there, rival.carried});
    report.table.push_back(row);
    report.records.rows.push_back(record);
  }
  report.notes = peers.cited({kSource});
  report.plot.notes = {fmt::format(
      "bf16, 16384 tokens, heads x head dim = 2048; {}, driver {}, {}; "
      "again: {}",
      file.text(0, "gpu"), file.text(0, "driver"), file.text(0, "date"), file.text(0, "command"))};
  report.plot.notes.insert(report.plot.notes.end(), report.notes.begin(), report.notes.end());
  return report;
}

Facts lengths_facts(const CsvTable& file) {
  Facts facts;
  for (const char* name : {"gpu", "driver", "date", "command"}) {
    if (file.size() > 0) facts.emplace_back(name, file.text(0, name));
  }
  return facts;
}

}  // namespace heddle
