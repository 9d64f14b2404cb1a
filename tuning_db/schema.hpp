#pragma once

#include <span>

namespace heddle {

/// One of the two databases. The version is SQLite's user_version: 0 = nothing created yet.
struct Schema {
  /// SQLite's application_id: keeps another program's database, or the other one of ours, safe.
  int application_id;
  /// migrations[i] takes a file from version i to version i + 1. Only ever add at the end.
  std::span<const char* const> migrations;
  /// SQLite's synchronous mode: FULL for what must survive a power cut, NORMAL for what is
  /// disposable.
  const char* synchronous;

  int version() const { return static_cast<int>(migrations.size()); }
};

const Schema& results_schema();
const Schema& cubin_schema();

}  // namespace heddle
