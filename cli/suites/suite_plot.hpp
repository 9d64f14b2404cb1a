#pragma once
// What the plots of suites have in common. A suite's plot is drawn from the CSV that it writes and
// from nothing else that was measured, so that it can be drawn again at any time without a GPU.

#include <string>
#include <string_view>

#include "cli/suites/csv_table.hpp"
#include "cli/suites/peers.hpp"
#include "cli/suites/plot.hpp"
#include "generator/problem.hpp"

namespace heddle {

/// From a suite's CSV; `peers` say where the figures of others in it are from. Throws
/// kInvalidArgument where the CSV lacks what is drawn.
using SuiteDrawing = Plot (*)(const CsvTable& csv, const Peers& peers);

/// Throws kInvalidArgument unless every line is of that suite, and there is one.
void require_suite(const CsvTable& csv, std::string_view suite);

/// What a plot says first: "bf16 …", then GPU, driver and date as the CSV has them.
std::vector<std::string> about_lines(const std::string& shape, const CsvTable& csv);
/// What a plot says last: `whose` figures of others are from these sources, and which command
/// measures this run's again.
void add_sources(Plot& plot, const std::string& whose, const Peers& peers,
                 const std::vector<std::string>& keys);
void add_command(Plot& plot, const CsvTable& csv);

/// Throws kInvalidArgument where the column names no mask.
Variant variant_at(const CsvTable& csv, std::size_t row);

/// That of this title, or a new one at the end with these series.
Panel& panel_of(Plot& plot, const std::string& title, const std::vector<Series>& series);
/// That of this label, or a new one at the end.
BarGroup& group_of(Plot& plot, const std::string& label);

/// Adds what is there.
void add_point(Series& series, double x, const std::optional<double>& y);
void add_bar(BarGroup& group, std::size_t series, const std::optional<double>& value);

}  // namespace heddle
