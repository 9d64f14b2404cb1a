#include "tuning_db/cubin_row.hpp"

namespace heddle {

std::string cubin_checksum(const std::string& key, const StoredCubin& cubin,
                           const std::string& notes) {
  const Hash128 code = hash_bytes(cubin.bytes.data(), cubin.bytes.size());
  return hash_text(key + '\n' + code.hex() + '\n' + cubin.entry + '\n' + notes).hex();
}

std::optional<StoredCubin> read_cubin_row(const std::string& key, SQLite::Statement& row) {
  StoredCubin cubin;
  const std::string notes = row.getColumn("notes").getString();
  cubin.entry = row.getColumn("entry").getString();
  const SQLite::Column code = row.getColumn("code");
  const char* data = static_cast<const char*>(code.getBlob());
  if (data != nullptr) cubin.bytes.assign(data, data + code.getBytes());
  if (row.getColumn("checksum").getString() != cubin_checksum(key, cubin, notes))
    return std::nullopt;
  try {
    cubin.notes = parse_canonical<CompileNotes>(notes);
  } catch (const Error&) {
    return std::nullopt;
  }
  return cubin;
}

}  // namespace heddle
