#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "tuning_db/database.hpp"

namespace heddle {

struct OpenRequest {
  std::string path;  ///< absolute
  bool read_only = false;
  bool use_wal = true;
  int busy_timeout_ms = 2000;
};

struct OpenedDatabase {
  std::unique_ptr<SQLite::Database> connection;
  bool writable = false;
};

/// The file is sound but not for us.
struct OpenRefusal : std::runtime_error {
  OpenRefusal(Trouble kind, const std::string& message)
      : std::runtime_error(message), trouble(kind) {}
  Trouble trouble;
};

/// Opens, creates or migrates. A file that cannot be written is opened for reading.
/// Throws OpenRefusal or SQLite::Exception.
OpenedDatabase open_database(const OpenRequest& request, const Schema& schema);

}  // namespace heddle
