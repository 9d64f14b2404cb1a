#include "cli/problem_file.hpp"

#include <filesystem>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "generator/error.hpp"

namespace heddle {
namespace {

[[noreturn]] void fail(const std::string& path, int line, const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, path, fmt::format("{}:{}: {}", path, line + 1, what));
}

YAML::Node load(const std::string& path) {
  if (std::filesystem::is_directory(path)) {
    throw Error(ErrorCode::kInvalidArgument, "problem",
                "--problem: '" + path + "' is a folder; give a YAML file");
  }
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAllFromFile(path);
    if (documents.empty()) fail(path, 0, "nothing in it; expected 'name: value' lines");
    if (documents.size() > 1) {
      fail(path, documents[1].Mark().line, "a second document; a file holds one problem");
    }
    return documents.front();
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
    if (!entry.first.IsScalar()) {
      fail(path, entry.first.Mark().line, "expected 'name: value' with a single name");
    }
    const auto name = entry.first.as<std::string>();
    if (!entry.second.IsScalar()) {
      fail(path, entry.first.Mark().line, "'" + name + "' needs a single value: 'name: value'");
    }
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
