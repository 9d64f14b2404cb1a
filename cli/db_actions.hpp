#pragma once
// What `heddle db` does, an action each; the returned int is the exit code.

#include <string>
#include <vector>

#include "cli/services.hpp"

namespace heddle {

struct DbOptions {
  ServiceFlags services;
  std::string file;
  std::vector<std::string> files;
  std::string filter;
  std::string made_by;  ///< heddle, driver and NVRTC of a recording's rows; empty = the newest
  bool all = false;
  bool shipped = false;  ///< the entries that come with the library, not the file's
  bool json = false;
  bool failures = false;
  bool cubins = false;
  int older_than_days = 0;
};

int run_db_merge(const DbOptions& options);
int run_db_prune(const DbOptions& options);
int run_db_check(const DbOptions& options);
int run_db_record(const DbOptions& options);
int run_db_regret(const DbOptions& options);

/// The results database, to be written to. Throws kIo where it cannot be.
ResultsStore open_for_writing(const DbOptions& options);
/// Throws kIo where a row did not reach the file.
void record_all(ResultsStore& store, const std::vector<Measurement>& rows);

}  // namespace heddle
