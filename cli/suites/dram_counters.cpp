#include "cli/suites/dram_counters.hpp"

#include <algorithm>
#include <sstream>

#include "cli/suites/csv_table.hpp"
#include "cli/suites/profiler.hpp"

namespace heddle {

std::vector<std::string> dram_metrics() {
  return {"--metrics", "dram__bytes_read.sum,dram__bytes_write.sum"};
}

std::optional<double> parse_dram_bytes(const std::string& output, int launches) {
  double sum = 0;
  int figures = 0;
  std::istringstream lines(output);  // heddle prints between ncu's lines
  for (std::string line; std::getline(lines, line);) {
    if (line.find("dram__bytes_") == std::string::npos) continue;
    const CsvRow row = parse_csv(line).front();
    const bool is_metric = std::any_of(row.begin(), row.end(), [](const std::string& field) {
      return field.rfind("dram__bytes_", 0) == 0;
    });
    if (!is_metric) continue;
    const auto bytes = profiler_number(row.back());
    if (!bytes) return std::nullopt;
    sum += *bytes;
    ++figures;
  }
  if (figures != 2 * launches) return std::nullopt;  // read and written
  return sum;
}

}  // namespace heddle
