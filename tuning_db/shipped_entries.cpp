#include "tuning_db/shipped_entries.hpp"

#include <span>

#include "generator/template_library.hpp"
#include "tuning_db/packed_rows.hpp"
#include "tuning_db/results_store.hpp"

namespace heddle {

/// Made of entries/*.yaml by pack_rows() at build time.
std::span<const EmbeddedTemplate> embedded_entries();

ShippedEntries parse_shipped_entries() {
  ShippedEntries entries;
  for (const auto& [name, text] : embedded_entries()) {
    try {
      const auto rows = unpack_rows(text);
      entries.rows.insert(entries.rows.end(), rows.begin(), rows.end());
    } catch (const Error& error) {
      entries.problems.push_back(std::string(name) + ": " + error.what());
    }
  }
  return entries;
}

const std::vector<Measurement>& shipped_entries() {
  // The one function-local static: immutable, a pure function of what was built in, and parsed only
  // by a process that opens a results store.
  static const ShippedEntries entries = parse_shipped_entries();
  return entries.rows;
}

}  // namespace heddle
