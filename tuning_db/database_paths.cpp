#include "tuning_db/database_paths.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace heddle {
namespace {

namespace fs = std::filesystem;

/// Names of one database's places.
struct Place {
  const char* own_variable;
  const char* xdg_variable;
  const char* below_home;
  const char* file;
};
constexpr Place kResults{"HEDDLE_DB", "XDG_DATA_HOME", ".local/share", "results.db"};
constexpr Place kCubins{"HEDDLE_CACHE", "XDG_CACHE_HOME", ".cache", "cubins.db"};

/// Absolute and not the root directory: a container without a home often says "/".
bool is_usable_base(const std::string& path) {
  const fs::path normal = fs::path(path).lexically_normal();
  return normal.is_absolute() && normal.has_relative_path();
}

bool is_existing_directory(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

std::string home_directory(const PathEnvironment& environment) {
  for (const auto& home : {environment.variable("HOME").value_or(""), environment.passwd_home}) {
    if (is_usable_base(home) && is_existing_directory(home)) return home;
  }
  return {};
}

/// The caller's own words: a relative path means the working directory, as for any tool.
std::string explicit_path(const std::string& value, const Place& place, const std::string& home) {
  fs::path path(value);
  if (value == "~" || value.starts_with("~/")) {
    if (home.empty()) return {};
    path = fs::path(home) / value.substr(value.size() > 1 ? 2 : 1);
  }
  std::error_code error;
  path = fs::absolute(path, error).lexically_normal();
  if (error) return {};
  const bool names_directory = !path.has_filename() || is_existing_directory(path.string());
  return (names_directory ? path / place.file : path).string();
}

std::string database_path(const PathEnvironment& environment, const Place& place) {
  const std::string home = home_directory(environment);
  if (const auto own = environment.variable(place.own_variable)) {
    return own->empty() ? std::string() : explicit_path(*own, place, home);
  }
  if (const auto xdg = environment.variable(place.xdg_variable); xdg && is_usable_base(*xdg)) {
    return (fs::path(*xdg) / "heddle" / place.file).string();
  }
  if (home.empty()) return {};
  return (fs::path(home) / place.below_home / "heddle" / place.file).string();
}

std::string passwd_home() {
  constexpr std::size_t kEnough = 16384;
  std::vector<char> buffer(kEnough);
  struct passwd entry {};
  struct passwd* found = nullptr;
  if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) != 0) return {};
  return found != nullptr && found->pw_dir != nullptr ? found->pw_dir : "";
}

}  // namespace

DatabasePaths database_paths(const PathEnvironment& environment) {
  return {database_path(environment, kResults), database_path(environment, kCubins)};
}

DatabasePaths default_database_paths() {
  const auto variable = [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return value;
  };
  return database_paths({variable, passwd_home()});
}

}  // namespace heddle
