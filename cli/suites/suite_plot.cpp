#include "cli/suites/suite_plot.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/suites/sweep.hpp"
#include "generator/error.hpp"

namespace heddle {

void require_suite(const CsvTable& csv, std::string_view suite) {
  if (!csv.has("suite")) {
    throw Error(ErrorCode::kInvalidArgument, "from",
                fmt::format("--from {0}: it has no column 'suite', so no suite wrote it; give what "
                            "`heddle bench --suite {1} --csv FILE` wrote",
                            csv.file_name(), suite));
  }
  if (csv.size() == 0) {
    throw Error(ErrorCode::kInvalidArgument, "from",
                fmt::format("--from {}: it has no measurements; give what `heddle bench --suite {} "
                            "--csv FILE` wrote",
                            csv.file_name(), suite));
  }
  for (std::size_t row = 0; row < csv.size(); ++row) {
    const std::string& found = csv.text(row, "suite");
    if (found == suite) continue;
    csv.refuse(row, "suite",
               fmt::format("is not {}; say --suite {}, or give a CSV of {}", suite,
                           found.empty() ? "NAME" : found, suite));
  }
}

std::vector<std::string> about_lines(const std::string& shape, const CsvTable& csv) {
  if (csv.size() == 0) return {shape};
  constexpr std::size_t kDay = 10;  // "2026-12-01T07:05:19Z"
  std::string measured;
  const auto add = [&](const char* column, const char* before, std::size_t letters) {
    if (!csv.has(column) || csv.text(0, column).empty()) return;
    if (!measured.empty()) measured += ", ";
    measured += before + csv.text(0, column).substr(0, letters);
  };
  add("gpu", "", std::string::npos);
  if (measured.empty()) add("heddle", "no GPU, heddle ", std::string::npos);
  add("architecture", "for ", std::string::npos);
  add("driver", "driver ", std::string::npos);
  add("date", "", kDay);
  return {shape, measured};
}

void add_sources(Plot& plot, const std::string& whose, const Peers& peers,
                 const std::vector<std::string>& keys) {
  plot.notes.push_back(whose + " (methods: bench/peers.yaml):");
  for (const std::string& key : keys) {
    const auto found = peers.sources.find(key);
    if (found == peers.sources.end()) continue;  // not in every file that --peers may name
    const PeerSource& source = found->second;
    plot.notes.push_back(
        fmt::format("{}: {}; {}; date: {}", key, source.text, source.device, source.date));
  }
}

void add_command(Plot& plot, const CsvTable& csv) {
  if (csv.size() > 0) plot.notes.push_back("Measured by: " + csv.text(0, "command"));
}

Variant variant_at(const CsvTable& csv, std::size_t row) {
  const auto mask = enum_value<MaskKind>(csv.text(row, "mask"));
  if (!mask) csv.refuse(row, "mask", "is neither full nor causal");
  return {.head_dim = csv.whole(row, "head_dim"), .mask = *mask};
}

Panel& panel_of(Plot& plot, const std::string& title, const std::vector<Series>& series) {
  for (Panel& panel : plot.panels) {
    if (panel.title == title) return panel;
  }
  return plot.panels.emplace_back(Panel{title, series});
}

BarGroup& group_of(Plot& plot, const std::string& label) {
  for (BarGroup& group : plot.groups) {
    if (group.label == label) return group;
  }
  return plot.groups.emplace_back(BarGroup{label, {}});
}

void add_point(Series& series, double x, const std::optional<double>& y) {
  if (y) series.points.emplace_back(x, *y);
}

void add_bar(BarGroup& group, std::size_t series, const std::optional<double>& value) {
  if (value) group.bars.emplace_back(series, *value);
}

}  // namespace heddle
