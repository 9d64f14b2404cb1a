#include "cli/suites/profiler.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>

#include <fmt/format.h>

#include "cli/flags.hpp"
#include "generator/knobs.hpp"

namespace heddle {
namespace {

/// One kernel takes seconds; a profiler that waits for another one's lock may wait for ever.
constexpr const char* kMostSeconds = "120";

std::string find_on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + '/' + program;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

std::string own_path() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

std::string shell_quoted(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + '\'';
}

}  // namespace

std::string find_profiler() {
  return find_on_path("ncu");
}

std::vector<std::string> profiler_command(const std::string& profiler,
                                          const std::vector<std::string>& collect,
                                          const SuiteCase& entry, int launches,
                                          const std::vector<std::string>& services) {
  std::vector<std::string> words{profiler,
                                 "--clock-control",
                                 "none",
                                 "--kernel-name",
                                 "regex:heddle_(unfused|fa1|fa2|fa3|split)",
                                 "--launch-count",
                                 std::to_string(launches)};
  words.insert(words.end(), collect.begin(), collect.end());
  words.insert(words.end(), {"--csv", "--print-units", "base", own_path(), "bench", "--samples",
                             "1", "--family", std::string(enum_name(entry.config.family))});
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

std::optional<std::string> profiler_output(const std::vector<std::string>& command) {
  std::string line;
  if (const std::string limit = find_on_path("timeout"); !limit.empty()) {
    line = shell_quoted(limit) + " -k 5 " + kMostSeconds + ' ';
  }
  for (const std::string& word : command) line += shell_quoted(word) + ' ';
  std::FILE* pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string output;
  char buffer[4096];
  for (std::size_t count; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    output.append(buffer, count);
  }
  const int status = ::pclose(pipe);
  if (status == 0) return output;
  // What it has against this machine stands among what it prints.
  std::istringstream lines(output);
  for (std::string each; std::getline(lines, each);) {
    if (each.rfind("==", 0) == 0) std::cerr << each << '\n';
  }
  std::cerr << fmt::format("ncu: exit code {} ({})\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                           line);
  return std::nullopt;
}

std::optional<double> profiler_number(std::string text) {
  std::erase(text, ',');
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return std::nullopt;
  return value;
}

}  // namespace heddle
