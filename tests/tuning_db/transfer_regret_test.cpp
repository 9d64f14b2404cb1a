#include "tuning_db/transfer_regret.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/tuning_db/support.hpp"

using namespace heddle;
using namespace heddle::testing_db;

namespace {

SizeBucket bucket(int keys) {
  return {.sequences = 16, .group = 4, .seqlen_q = 1024, .seqlen_kv = keys};
}

DeviceClass smaller() {
  DeviceClass device = h200();
  device.sm_count = 114;
  device.name = "NVIDIA H100 PCIe";
  return device;
}

Measurement row(const SizeBucket& where, int tile_n, double relative) {
  Measurement row = sample_row();
  row.bucket = where;
  row.config.tile_n = tile_n;
  row.relative = relative;
  return row;
}

/// A place tuned to its end: ten configs of tile_n 16 … 160, of which one is the winner at half the
/// default's time; each 16 away from it cost a tenth of that more.
std::vector<Measurement> tuned(const SizeBucket& where, int winner,
                               const DeviceClass& device = h200(), int configs = 10) {
  std::vector<Measurement> rows;
  for (int tile_n = 16; tile_n <= 16 * configs; tile_n += 16) {
    rows.push_back(row(where, tile_n, 0.5 * (1 + 0.1 * std::abs(tile_n - winner) / 16)));
    rows.back().device = device;
    rows.back().chosen = tile_n == winner;
  }
  return rows;
}

std::vector<Measurement> all(const std::vector<std::vector<Measurement>>& parts) {
  std::vector<Measurement> rows;
  for (const auto& part : parts) rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

Transfer between(int from, int to, const DeviceClass& from_device = h200(),
                 const DeviceClass& to_device = h200()) {
  return {bucket(from), bucket(to), from_device, to_device};
}

}  // namespace

TEST_CASE("Where a winner was tried at another size is what it costs there", "[regret]") {
  const auto rows = all({tuned(bucket(1024), 64), tuned(bucket(2048), 96)});
  const auto regret = transfer_regret(rows, between(4096, 8192));
  REQUIRE(regret);
  CHECK(regret->samples == 2);  // each of the two for the other
  CHECK(regret->mean == Approx(1.2));
  CHECK(regret->worst == Approx(1.2));
}

TEST_CASE("Mean and worst are of all places, and a winner of both costs nothing", "[regret]") {
  const auto rows =
      all({tuned(bucket(1024), 64), tuned(bucket(2048), 64), tuned(bucket(4096), 112)});
  const auto regret = transfer_regret(rows, between(16, 32));
  REQUIRE(regret);
  CHECK(regret->samples == 4);  // of neighbours only
  CHECK(regret->worst == Approx(1.3));
  CHECK(regret->mean == Approx(std::sqrt(1.3)));
}

TEST_CASE("Only transfers over about as many doublings count", "[regret]") {
  const auto rows = all({tuned(bucket(1024), 64), tuned(bucket(8192), 96)});
  CHECK(transfer_regret(rows, between(1024, 8192))->samples == 2);
  CHECK_FALSE(transfer_regret(rows, between(1024, 2048)));
  CHECK_FALSE(transfer_regret(rows, between(1024, 32768)));
}

TEST_CASE("Between devices only what was measured on two counts", "[regret]") {
  const auto here = all({tuned(bucket(1024), 64), tuned(bucket(2048), 96)});
  CHECK_FALSE(transfer_regret(here, between(1024, 1024, h200(), smaller())));
  const auto rows = all({here, tuned(bucket(1024), 80, smaller())});
  const auto regret = transfer_regret(rows, between(1024, 1024, h200(), smaller()));
  REQUIRE(regret);
  CHECK(regret->samples == 2);
  CHECK(regret->mean == Approx(1.1));
  // Of another capability nothing is known.
  DeviceClass other = h200();
  other.capability_major = 10;
  CHECK_FALSE(transfer_regret(rows, between(1024, 1024, h200(), other)));
}

TEST_CASE("No number without data", "[regret]") {
  CHECK_FALSE(transfer_regret({}, between(1024, 2048)));
  CHECK_FALSE(transfer_regret(tuned(bucket(1024), 64), between(1024, 2048)));
  const auto good = tuned(bucket(1024), 64);
  SECTION("an unfinished tuning has no winner") {
    auto rows = tuned(bucket(2048), 96);
    for (auto& each : rows) each.chosen = false;
    CHECK_FALSE(transfer_regret(all({good, rows}), between(1024, 2048)));
  }
  SECTION("winners alone, as shipped entries are, would only show where they agree") {
    const auto rows = all({{good[3]}, {tuned(bucket(2048), 64)[3]}});
    REQUIRE(rows[0].chosen);
    CHECK_FALSE(transfer_regret(rows, between(1024, 2048)));
  }
  SECTION("a winner that was not tried at the other size") {
    const auto few = tuned(bucket(2048), 16, h200(), 8);
    const auto wide = tuned(bucket(1024), 160);
    const auto regret = transfer_regret(all({wide, few}), between(1024, 2048));
    REQUIRE(regret);
    CHECK(regret->samples == 1);  // few's winner where wide was tuned
  }
  SECTION("rows without a comparison with the default, failed checks, warm ones") {
    for (int kind = 0; kind < 3; ++kind) {
      auto rows = tuned(bucket(2048), 96);
      for (auto& each : rows) {
        if (kind == 0) each.relative = 0;
        if (kind == 1) each.check->passed = false;
        if (kind == 2) each.warm = true;
      }
      CHECK_FALSE(transfer_regret(all({good, rows}), between(1024, 2048)));
    }
  }
}

TEST_CASE("Of several rows of a config the newest counts, whatever their order", "[regret]") {
  auto rows = all({tuned(bucket(1024), 64), tuned(bucket(2048), 96)});
  auto later = row(bucket(2048), 64, 1.0);
  later.provenance.when = "2025-06-01T00:00:00Z";
  auto earlier = row(bucket(2048), 64, 3.0);
  earlier.provenance.when = "2024-06-01T00:00:00Z";
  rows.push_back(later);
  rows.push_back(earlier);
  CHECK(transfer_regret(rows, between(1024, 2048))->worst == Approx(2.0));
  std::reverse(rows.begin(), rows.end());
  CHECK(transfer_regret(rows, between(1024, 2048))->worst == Approx(2.0));
}

TEST_CASE("A store gives the rows of a variant on every device, shipped ones too", "[regret]") {
  auto shipped = row(bucket(64), 32, 0.5);
  auto elsewhere = row(bucket(64), 48, 0.5);
  elsewhere.device = smaller();
  auto other = row(bucket(64), 64, 0.5);
  other.variant.mask = MaskKind::kCausal;
  const TemporaryDirectory directory;
  const auto layer =
      std::make_shared<const std::vector<Measurement>>(std::vector<Measurement>{shipped, other});
  for (const std::string& path : {std::string(), directory / "results.db"}) {
    ResultsStore store({.path = path, .shipped = layer});
    store.record({row(bucket(64), 16, 0.5), elsewhere, other});
    CHECK(store.evidence_of(shipped.variant).size() == 3);
  }
}
