#include "cli/terminal.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iostream>

#include <fmt/format.h>

namespace heddle {
namespace {

constexpr int kBarWidth = 24;

bool is_number(const std::string& cell) {
  return !cell.empty() && std::isdigit(static_cast<unsigned char>(cell.front()));
}

std::vector<std::size_t> column_widths(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  return widths;
}

}  // namespace

TerminalStyle detect_terminal() {
  const char* no_color = std::getenv("NO_COLOR");
  const bool plain = no_color != nullptr && *no_color != '\0';
  return {isatty(STDERR_FILENO) == 1, isatty(STDOUT_FILENO) == 1 && !plain};
}

void ProgressLine::update(const std::string& label, int done, int total) {
  if (!style_.interactive) {
    const bool boundary = label != label_ || done == total;
    if (boundary) std::cerr << fmt::format("{} {}/{}\n", label, done, total);
    label_ = label;
    return;
  }
  const int filled = total > 0 ? done * kBarWidth / total : 0;
  std::cerr << fmt::format("\r\x1b[K{} [{:#<{}}{:.<{}}] {}/{}", label, "", filled, "",
                           kBarWidth - filled, done, total)
            << std::flush;
  drawn_ = true;
}

void ProgressLine::clear() {
  if (drawn_) std::cerr << "\r\x1b[K" << std::flush;
  drawn_ = false;
}

std::string format_table(const std::vector<std::vector<std::string>>& rows) {
  const auto widths = column_widths(rows);
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += is_number(row[i]) ? fmt::format("{:>{}}  ", row[i], widths[i])
                                : fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string format_bytes(double bytes) {
  constexpr std::pair<double, const char*> kUnits[] = {
      {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "KB"}};
  for (const auto& [unit, name] : kUnits) {
    if (bytes >= unit) return fmt::format("{:.3g} {}", bytes / unit, name);
  }
  return fmt::format("{:.0f} B", bytes);
}

std::string format_seconds(double seconds) {
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.1f} us", seconds * 1e6);
}

}  // namespace heddle
