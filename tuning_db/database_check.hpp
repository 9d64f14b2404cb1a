#pragma once

#include <string>

namespace heddle {

/// What a look at a whole database file finds. Nothing is changed, moved or migrated.
struct DatabaseCheck {
  bool exists = false;
  bool older = false;  ///< of an older schema: the next writer migrates it, its rows are not read
  long long rows = 0;
  long long newer = 0;    ///< of these, with fields of a newer heddle: invisible, and kept
  long long damaged = 0;  ///< rows that are not what was written: invisible; prune removes them
  std::string problem;    ///< what is wrong with the file; empty = nothing

  bool sound() const { return problem.empty() && damaged == 0; }
};

/// Throw nothing. A file that is not there is sound.
DatabaseCheck check_results(const std::string& path);
DatabaseCheck check_cubins(const std::string& path);

}  // namespace heddle
