#include "tuning_db/packed_rows.hpp"

#include <catch2/catch.hpp>

#include "generator/error.hpp"
#include "tests/tuning_db/support.hpp"

using namespace heddle;
using namespace heddle::testing_db;

TEST_CASE("Packed rows come back with every field", "[packed]") {
  std::vector<Measurement> rows(4, sample_row());
  rows[1].evidence = Evidence::kFailed;
  rows[1].failure = "line one\nline\ttwo, 5 % = more \x01 é";
  rows[1].check.reset();
  rows[2].variant.head_dim = 96;
  rows[2].median_seconds = 1.0 / 3;
  rows[2].chosen = true;
  rows[2].timings = "100@1980 200@1980";
  rows[3].device.name.clear();
  const auto again = unpack_rows(pack_rows(rows));
  REQUIRE(again.size() == rows.size());
  CHECK(export_yaml(again) == export_yaml(rows));
  CHECK(pack_rows(again) == pack_rows(rows));
  CHECK(unpack_rows("").empty());
}

TEST_CASE("What is no packed row is refused", "[packed]") {
  const std::string good = pack_rows({sample_row()});
  for (const std::string& wrong :
       {good.substr(0, good.size() - 1), good.substr(0, good.size() / 2) + "\n", good + "x1\t\n",
        good + "\n", std::string("tonly\t\n"), "i" + good}) {
    CHECK_THROWS_AS(unpack_rows(wrong), Error);
  }
}

TEST_CASE("The library holds the rows of entries/*.yaml", "[packed]") {
  const auto rows = import_yaml(read_file(HEDDLE_ENTRIES "/nvidia_h200.yaml"), "nvidia_h200.yaml");
  REQUIRE(rows.size() > 10);
  CHECK(export_yaml(shipped_entries()) == export_yaml(rows));
}
