#include "tests/mutation/verdict_log.hpp"

#include <array>
#include <sstream>
#include <utility>

#include <fmt/format.h>

namespace heddle::mutation {
namespace {

constexpr std::size_t kLongestReason = 200;
constexpr std::string_view kBetween = " | ";

/// "part/x.cuh:57 bound: …" without the line.
std::string key_of(const std::string& name) {
  const std::size_t colon = name.find(':');
  const std::size_t blank = name.find(' ');
  if (colon == std::string::npos || blank == std::string::npos || colon > blank) return {};
  return name.substr(0, colon) + name.substr(blank);
}

constexpr std::array kWords{std::pair{Outcome::kKilled, std::string_view("KILLED")},
                            std::pair{Outcome::kCrashed, std::string_view("CRASHED")},
                            std::pair{Outcome::kOutOfTime, std::string_view("OUT OF TIME")},
                            std::pair{Outcome::kSurvived, std::string_view("SURVIVED")},
                            std::pair{Outcome::kSurvived, std::string_view("EQUIVALENT")},
                            std::pair{Outcome::kSurvived, std::string_view("LISTED")},
                            std::pair{Outcome::kStillborn, std::string_view("STILLBORN")}};

bool parse_outcome(std::string_view word, Outcome& outcome) {
  if (word.ends_with(kButListed)) word.remove_suffix(kButListed.size());
  for (const auto& [value, name] : kWords) {
    if (name != word) continue;
    outcome = value;
    return true;
  }
  return false;
}

}  // namespace

std::string_view outcome_word(Outcome outcome) {
  for (const auto& [value, name] : kWords) {
    if (value == outcome) return name;
  }
  return "NOT JUDGED";
}

std::string verdict_line(const std::string& word, const Mutant& mutant, const Verdict& verdict) {
  std::string reason = verdict.reason.substr(0, kLongestReason);
  for (std::size_t at = 0; (at = reason.find(kBetween, at)) != std::string::npos;) {
    reason.replace(at, kBetween.size(), " ! ");
  }
  return fmt::format("{}{}{}{}{}{}{}{}{:.1f} s\n", word, kBetween, mutant.name(), kBetween,
                     verdict.problem, kBetween, reason, kBetween, verdict.seconds);
}

std::map<std::string, Verdict> read_verdicts(const std::string& text) {
  std::map<std::string, Verdict> verdicts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t name = line.find(kBetween);
    const std::size_t seconds = line.rfind(kBetween);
    if (name == std::string::npos || seconds == name) continue;
    const std::size_t reason = line.rfind(kBetween, seconds - 1);
    const std::size_t problem = line.rfind(kBetween, reason - 1);
    if (problem <= name || reason == std::string::npos) continue;
    Verdict verdict;
    if (!parse_outcome(line.substr(0, name), verdict.outcome)) continue;
    const auto piece = [&](std::size_t from, std::size_t to) {
      return line.substr(from + kBetween.size(), to - from - kBetween.size());
    };
    verdict.problem = piece(problem, reason);
    verdict.reason = piece(reason, seconds);
    verdict.seconds = std::strtod(line.c_str() + seconds + kBetween.size(), nullptr);
    verdicts[key_of(piece(name, problem))] = verdict;
  }
  return verdicts;
}

}  // namespace heddle::mutation
