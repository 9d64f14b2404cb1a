#pragma once
// `heddle bench --suite lengths --from FILE`: the CSV of bench/compare.py as a table and a plot,
// FlashAttention-3 from bench/peers.yaml beside it. Measures nothing.

#include <string>

#include "cli/suites/csv_table.hpp"
#include "cli/suites/peers.hpp"
#include "cli/suites/suite_plot.hpp"
#include "cli/suites/suite_report.hpp"

namespace heddle {

/// Throws kInvalidArgument where the file lacks what the report needs.
BenchSuiteReport lengths_report(const CsvTable& file, const Peers& peers);

/// What the file says of where it was measured: gpu, driver, date, command.
Facts lengths_facts(const CsvTable& file);

/// From the CSV of this suite, not of bench/compare.py: heddle, FA3, cuDNN and FA2.
Plot lengths_plot(const CsvTable& csv, const Peers& peers);

}  // namespace heddle
