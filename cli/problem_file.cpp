#include "cli/problem_file.hpp"

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

std::map<std::string, std::string> read_problem_file(const std::string& path) {
  const YAML::Node root = load(path);
  if (!root.IsMap()) fail(path, root.Mark().line, "expected 'name: value' lines");
  std::map<std::string, std::string> values;
  for (const auto& entry : root) {
    if (!entry.first.IsScalar() || !entry.second.IsScalar()) {
      fail(path, entry.first.Mark().line, "expected 'name: value' with a single value");
    }
    const auto name = entry.first.as<std::string>();
    if (!values.emplace(name, entry.second.as<std::string>()).second) {
      fail(path, entry.first.Mark().line, "'" + name + "' is given twice");
    }
  }
  return values;
}

}  // namespace heddle
