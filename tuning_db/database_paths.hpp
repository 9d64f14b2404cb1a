#pragma once

#include <functional>
#include <optional>
#include <string>

namespace heddle {

/// Where the two databases live; an empty path = memory only. The first of these that is usable:
///   1. $HEDDLE_DB (results), $HEDDLE_CACHE (cubins): a file, or an existing directory to put it
///      in; set to the empty string = memory only; a leading "~/" is the home directory
///   2. $XDG_DATA_HOME/heddle/results.db, $XDG_CACHE_HOME/heddle/cubins.db: absolute values only
///   3. $HOME/.local/share/heddle/results.db, $HOME/.cache/heddle/cubins.db: an existing absolute
///      directory other than "/" only
///   4. the same under the home directory of the user's passwd entry
///   5. memory only.
struct DatabasePaths {
  std::string results;
  std::string cubins;
};
/// Reads the environment, once, at the caller's request.
DatabasePaths default_database_paths();

/// What the answer depends on, so that tests need not change the process's environment.
struct PathEnvironment {
  std::function<std::optional<std::string>(const char* name)> variable;
  std::string passwd_home;
};
DatabasePaths database_paths(const PathEnvironment& environment);

}  // namespace heddle
