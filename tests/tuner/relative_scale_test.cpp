// Tunings whose defaults differ, on one scale.
#include "tuner/relative_scale.hpp"

#include <catch2/catch.hpp>

#include "tuner/replay.hpp"

namespace heddle {
namespace {

Measurement row_of(const std::string& tuning, int tile_m, double relative, double seconds) {
  Measurement row;
  row.variant.head_dim = 64;
  row.sizes = {.batch = 1, .heads = 16, .seqlen_q = 512, .seqlen_kv = 512};
  row.bucket = bucket_of(row.sizes);
  row.device = {.capability_major = 9, .sm_count = 132, .l2_bytes = 62914560};
  row.config.tile_m = tile_m;
  row.relative = relative;
  row.median_seconds = seconds;
  row.tuning = tuning;
  row.provenance.when = tuning == "later" ? "2026-01-02T00:00:00Z" : "2026-01-01T00:00:00Z";
  return row;
}

/// 64 is the first's default; 128 the later's, and twice as fast.
std::vector<Measurement> two_tunings() {
  std::vector<Measurement> rows{row_of("first", 64, 1, 2e-3), row_of("first", 16, 1.5, 3e-3),
                                row_of("later", 128, 1, 1e-3), row_of("later", 64, 2, 2e-3),
                                row_of("later", 256, 0.9, 9e-4)};
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].elapsed_seconds = static_cast<double>(i);
  return rows;
}

std::vector<const Measurement*> pointers_to(const std::vector<Measurement>& rows) {
  std::vector<const Measurement*> list;
  for (const Measurement& row : rows) list.push_back(&row);
  return list;
}

TEST_CASE("A time over one default is told as over another that was measured beside it") {
  const auto rows = two_tunings();
  const RelativeScale scale(pointers_to(rows), rows[0].config);
  CHECK(scale.in_turns(rows[0]) == 1.0);
  CHECK(scale.in_turns(rows[1]) == 1.5);
  CHECK(scale.in_turns(rows[2]) == 0.5);
  CHECK(scale.in_turns(rows[4]) == 0.45);
}

TEST_CASE("Where it was not measured beside it, medians tell roughly") {
  const auto rows = two_tunings();
  CHECK(newest_default(pointers_to(rows)) == rows[2].config);
  const RelativeScale scale(pointers_to(rows), rows[2].config);
  CHECK(scale.in_turns(rows[4]) == 0.9);
  CHECK_FALSE(scale.in_turns(rows[1]));
  CHECK(*scale.roughly(rows[1]) == Approx(3));
  // Nobody has measured it at all.
  KernelConfig other;
  other.tile_m = 32;
  CHECK_FALSE(RelativeScale(pointers_to(rows), other).roughly(rows[1]));
}

TEST_CASE("What came out at 1 after the default is not the default") {
  auto rows = two_tunings();
  rows[4].relative = 1;
  CHECK(newest_default(pointers_to(rows)) == rows[2].config);
  CHECK_FALSE(newest_default({}));
}

TEST_CASE("A tuning whose default's row has been pruned has no scale") {
  auto rows = two_tunings();
  rows.erase(rows.begin());
  const RelativeScale scale(pointers_to(rows), rows[1].config);
  CHECK_FALSE(scale.in_turns(rows[0]));
  CHECK(*scale.roughly(rows[0]) == Approx(3));
}

TEST_CASE("A recording of several tunings has one scale, and nothing that was measured warm") {
  auto rows = two_tunings();
  // The first's default was not measured in the later one: no common scale, so seconds.
  std::erase_if(rows, [](const Measurement& row) {
    return row.tuning == "later" && row.config.tile_m == 64;
  });
  CHECK(recordings_of(rows)[0].best_cost() == Approx(9e-4));
  // With it among them 16 is at 3 of the newest default.
  rows.push_back(row_of("first", 128, 0.5, 1e-3));
  rows.back().elapsed_seconds = 9;
  const auto recording = recordings_of(rows).front();
  CHECK(recording.best_cost() == Approx(0.9));
  for (const auto& entry : recording.entries) {
    if (entry.config.tile_m == 16) CHECK(entry.cost == Approx(3));
  }
  const std::size_t cold = recording.entries.size();
  Measurement warm = row_of("later", 32, 0.1, 1e-4);
  warm.warm = true;
  rows.push_back(warm);
  CHECK(recordings_of(rows).front().entries.size() == cold);
}

}  // namespace
}  // namespace heddle
