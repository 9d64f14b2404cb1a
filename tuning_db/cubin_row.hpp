#pragma once
// A row of the table `cubins`. Internal: shows SQLiteCpp's types.

#include <SQLiteCpp/SQLiteCpp.h>

#include <optional>
#include <string>

#include "tuning_db/cubin_store.hpp"

namespace heddle {

/// Covers the blob, the columns that come back with it, and the key: one damaged byte in SQLite's
/// index makes a key lead to another key's sound row.
std::string cubin_checksum(const std::string& key, const StoredCubin& cubin,
                           const std::string& notes);

/// nullopt for a damaged row, or one with notes of a newer heddle. The statement yields checksum,
/// entry, notes and code.
std::optional<StoredCubin> read_cubin_row(const std::string& key, SQLite::Statement& row);

}  // namespace heddle
