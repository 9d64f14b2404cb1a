#include "cli/suites/dram_counters.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "cli/flags.hpp"
#include "cli/suites/csv_table.hpp"
#include "generator/knobs.hpp"

namespace heddle {
namespace {

constexpr const char* kMetrics = "dram__bytes_read.sum,dram__bytes_write.sum";

std::string shell_quoted(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + '\'';
}

/// "1,234.5" as ncu prints it.
std::optional<double> number_of(std::string text) {
  std::erase(text, ',');
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return std::nullopt;
  return value;
}

}  // namespace

std::string find_profiler() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/ncu";
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

std::vector<std::string> profiler_command(const std::string& profiler, const std::string& heddle,
                                          const SuiteCase& entry, int launches,
                                          const std::vector<std::string>& services) {
  std::vector<std::string> words{profiler,
                                 "--clock-control",
                                 "none",
                                 "--kernel-name",
                                 "regex:heddle_(unfused|fa1|fa2|fa3|split)",
                                 "--launch-count",
                                 std::to_string(launches),
                                 "--metrics",
                                 kMetrics,
                                 "--csv",
                                 "--print-units",
                                 "base",
                                 heddle,
                                 "bench",
                                 "--samples",
                                 "1",
                                 "--family",
                                 std::string(enum_name(entry.config.family))};
  std::istringstream problem(problem_flags_text(entry.problem));
  for (std::string word; problem >> word;) words.push_back(word);
  for_each_field(entry.config, [&](const auto& knob, const auto& value) {
    if (knob.name == "family" ||
        !knob_applies(knob.name, entry.config.family, entry.problem.variant)) {
      return;
    }
    words.push_back("--set");
    words.push_back(std::string(knob.name) + '=' + value_text(value));
  });
  words.insert(words.end(), services.begin(), services.end());
  return words;
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
    const auto bytes = number_of(row.back());
    if (!bytes) return std::nullopt;
    sum += *bytes;
    ++figures;
  }
  if (figures != 2 * launches) return std::nullopt;  // read and written
  return sum;
}

std::optional<double> read_dram_bytes(const std::vector<std::string>& command, int launches) {
  std::string line;
  for (const std::string& word : command) line += shell_quoted(word) + ' ';
  std::FILE* pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string output;
  char buffer[4096];
  for (std::size_t count; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    output.append(buffer, count);
  }
  if (::pclose(pipe) != 0) return std::nullopt;
  return parse_dram_bytes(output, launches);
}

std::string own_path() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

}  // namespace heddle
