#include "tests/mutation/known_list.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "generator/error.hpp"

namespace heddle::mutation {
namespace {

std::string trim(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

}  // namespace

std::vector<KnownMutant> parse_known(const std::string& text) {
  std::vector<KnownMutant> list;
  std::size_t without_reason = 0;  // entries from here on await theirs
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string content = trim(line);
    if (content.empty() || content.front() == '#') continue;
    if (line.front() != ' ') {
      const bool new_group = without_reason < list.size() && !list.back().reason.empty();
      if (new_group) without_reason = list.size();
      list.push_back({content, {}});
      continue;
    }
    if (list.empty()) {
      throw Error(ErrorCode::kInvalidArgument, "a reason without a pattern: " + content);
    }
    for (std::size_t i = without_reason; i < list.size(); ++i) {
      list[i].reason += (list[i].reason.empty() ? "" : " ") + content;
    }
  }
  for (const KnownMutant& entry : list) {
    if (!entry.reason.empty()) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("no reason is given for {}: add an indented line", entry.pattern));
  }
  return list;
}

bool matches(std::string_view pattern, std::string_view text) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (text.substr(0, star) != pattern.substr(0, star)) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t i = star; i <= text.size(); ++i) {
    if (matches(rest, text.substr(i))) return true;
  }
  return false;
}

const KnownMutant* find_known(const std::vector<KnownMutant>& list, const Mutant& mutant) {
  const std::string key = mutant.key();
  const auto found = std::find_if(list.begin(), list.end(), [&](const KnownMutant& entry) {
    return matches(entry.pattern, key);
  });
  return found == list.end() ? nullptr : &*found;
}

std::vector<std::string> unmatched(const std::vector<KnownMutant>& list,
                                   const std::vector<Mutant>& mutants) {
  std::vector<std::string> result;
  for (const KnownMutant& entry : list) {
    const bool found = std::any_of(mutants.begin(), mutants.end(), [&](const Mutant& mutant) {
      return matches(entry.pattern, mutant.key());
    });
    if (!found) result.push_back(entry.pattern);
  }
  return result;
}

}  // namespace heddle::mutation
