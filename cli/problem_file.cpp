#include "cli/problem_file.hpp"

#include <set>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "generator/error.hpp"

namespace heddle {
namespace {

[[noreturn]] void fail(const std::string& path, int line, const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, path, fmt::format("{}:{}: {}", path, line + 1, what));
}

YAML::Node load(const std::string& path) {
  try {
    return YAML::LoadFile(path);
  } catch (const YAML::BadFile&) {
    throw Error(ErrorCode::kInvalidArgument, "problem",
                "--problem: cannot read '" + path + "'; check that the file exists");
  } catch (const YAML::ParserException& error) {
    fail(path, error.mark.line, error.msg);
  }
}

}  // namespace

void read_problem_file(const std::string& path, const AssignValue& assign) {
  const YAML::Node root = load(path);
  if (!root.IsMap()) fail(path, root.Mark().line, "expected 'name: value' lines");
  std::set<std::string> seen;
  for (const auto& entry : root) {
    if (!entry.first.IsScalar() || !entry.second.IsScalar()) {
      fail(path, entry.first.Mark().line, "expected 'name: value' with a single value");
    }
    const auto name = entry.first.as<std::string>();
    if (!seen.insert(name).second) {
      fail(path, entry.first.Mark().line, "'" + name + "' is given twice");
    }
    try {
      assign(name, entry.second.as<std::string>());
    } catch (const Error& error) {
      fail(path, entry.first.Mark().line, error.what());
    }
  }
}

}  // namespace heddle
