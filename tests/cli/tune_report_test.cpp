// What tune says of where its rows went.
#include "cli/tune_report.hpp"

#include <catch2/catch.hpp>

#include "tests/runtime/temporary_folder.hpp"

namespace heddle {
namespace {

using Catch::Contains;

Measurement guess() {
  Measurement row;
  row.evidence = Evidence::kPredicted;
  row.median_seconds = 1e-6;
  return row;
}

TEST_CASE("only rows that a file holds are said to be stored") {
  const TemporaryFolder folder;
  ResultsStore::Options options;
  options.path = (folder.path() / "results.db").string();
  {
    ResultsStore store(options);
    store.record(guess());
    CHECK(where_stored(store) == "stored in " + options.path);
  }
  options.read_only = true;
  ResultsStore store(options);
  Measurement other = guess();
  other.median_seconds = 2e-6;
  store.record(other);
  CHECK_THAT(where_stored(store),
             Contains("not stored: 1 row") && Contains(options.path) && Contains("--results"));
  CHECK(where_stored(ResultsStore({})).empty());
}

}  // namespace
}  // namespace heddle
