// What `heddle explain` says of a winner that was measured elsewhere.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/gpu.hpp"
#include "generator/candidates.hpp"
#include "tests/cli/heddle_process.hpp"
#include "tuning_db/results_store.hpp"

namespace heddle {
namespace {

using Catch::Contains;
using nlohmann::json;

constexpr int kConfigs = 10;

/// Rows of a tuning for this many keys: the candidate of that number won, the next costs 4 % more.
std::vector<Measurement> tuned(int keys, int winner, int sm_count = 0,
                               Family family = Family::kFa3) {
  const DeviceLimits limits = find_architecture("sm_90a");
  const Variant variant{.dtype = DataType::kFp16, .head_dim = 72};  // nothing shipped for it
  // Good ones, since a config that the cost model dislikes is passed over.
  const Sizes typical{.batch = 4, .heads = 16, .seqlen_q = 4096, .seqlen_kv = 4096};
  auto candidates = rank_candidates({variant, typical}, limits);
  std::erase_if(candidates, [=](const auto& entry) { return entry.config.family != family; });
  std::vector<Measurement> rows;
  for (int i = 0; i < kConfigs; ++i) {
    Measurement row;
    row.variant = variant;
    row.sizes = {.batch = 4, .heads = 16, .seqlen_q = keys, .seqlen_kv = keys};
    row.bucket = bucket_of(row.sizes);
    row.device = class_of(limits);
    row.device.name = "A GPU";
    if (sm_count > 0) row.device.sm_count = sm_count;
    row.config = candidates[static_cast<std::size_t>(i)].config;
    row.relative = 0.5 * (1 + 0.04 * std::abs(i - winner));
    row.median_seconds = 1e-4 * row.relative;
    row.samples = 20;
    row.chosen = i == winner;
    row.check = CheckRecord{.passed = true};
    row.provenance.when = "2025-01-01T00:00:00Z";
    rows.push_back(std::move(row));
  }
  return rows;
}

struct Machine {
  explicit Machine(const std::vector<std::vector<Measurement>>& parts) {
    std::vector<Measurement> rows;
    for (const auto& part : parts) rows.insert(rows.end(), part.begin(), part.end());
    heddle.write("rows.yaml", export_yaml(rows));
    const auto imported = heddle.run({"db", "import", heddle.path("rows.yaml")});
    INFO(imported.errors);
    REQUIRE(imported.code == 0);
  }
  std::string explain(int keys, const std::vector<std::string>& more = {}) const {
    const std::string length = std::to_string(keys);
    std::vector<std::string> words{"explain", "--arch",     "sm_90a",  "--dtype",     "fp16",
                                   "--batch", "4",          "--heads", "16",          "--head-dim",
                                   "72",      "--seqlen-q", length,    "--seqlen-kv", length};
    words.insert(words.end(), more.begin(), more.end());
    const auto result = heddle.run(words);
    INFO(result.errors);
    REQUIRE(result.code == 0);
    return result.output;
  }
  HeddleProcess heddle;
};

TEST_CASE("A winner of another size comes with what such winners have cost, and from how much") {
  const Machine machine({tuned(1024, 2), tuned(2048, 3), tuned(4096, 3)});
  const std::string text = machine.explain(8192);
  CHECK_THAT(text, Contains("measured fastest for the nearest size") &&
                       Contains("regret   where such a winner was measured beside a place's own, "
                                "it was 2.0 % slower on average, 4.0 % at worst (4 samples)"));
  const json report = json::parse(machine.explain(8192, {"--json"}));
  CHECK(report["match"] == "nearest_size");
  CHECK(report["regret"]["samples"] == 4);
  CHECK(report["regret"]["worst"].get<double>() == Approx(1.04));
  // Measured for the very size: nothing to regret.
  CHECK_THAT(machine.explain(2048), Contains("for this size") && !Contains("regret"));
  CHECK_FALSE(json::parse(machine.explain(2048, {"--json"})).contains("regret"));
}

TEST_CASE("What was measured stands beside the choice, with device and day") {
  const Machine machine({tuned(2048, 3)});
  CHECK_THAT(machine.explain(2048), Contains("stored   50.0 us on A GPU (132 SMs), 2025-01-01\n"));
  CHECK_THAT(machine.explain(8192), Contains("2025-01-01, of batch=4,heads=16,seqlen_q=2048"));
  const json report = json::parse(machine.explain(2048, {"--json"}));
  CHECK(report["stored"]["seconds"].get<double>() == Approx(0.5e-4));
  CHECK(report["stored"]["device"] == "A GPU");
  CHECK_THAT(machine.explain(2048, {"--family", "fa3"}), !Contains("stored "));
}

TEST_CASE("Another family that the model predicts to be much faster is named") {
  const Machine machine({tuned(2048, 3, 0, Family::kFa2)});
  CHECK_THAT(machine.explain(2048), Contains("model    predicts fa3 faster: ") &&
                                        Contains("what is measured comes before it"));
  CHECK(json::parse(machine.explain(2048, {"--json"}))["predicted_faster"]["seconds"] > 0);
  CHECK_THAT(machine.explain(2048, {"--family", "fa3"}), !Contains("model    "));
}

TEST_CASE("Another size's winner that the model expects to lose to the default is passed over") {
  const Machine machine({tuned(2048, 3, 0, Family::kFa2)});
  const std::string text = machine.explain(8192);
  CHECK_THAT(text, Contains("kernel   family=fa3") &&
                       Contains("the default: what is stored does not serve here") &&
                       Contains("times as slow as the default"));
  CHECK(json::parse(machine.explain(8192, {"--json"}))["match"] == "default");
}

TEST_CASE("A prediction stored for the very size is named where a measured neighbour comes first") {
  auto predicted = tuned(8192, 4);
  std::erase_if(predicted, [](const Measurement& row) { return !row.chosen; });
  predicted.front().evidence = Evidence::kPredicted;
  predicted.front().chosen = false;
  predicted.front().check.reset();
  const Machine machine({tuned(2048, 3), predicted});
  CHECK_THAT(machine.explain(8192),
             Contains("for the nearest size") &&
                 Contains("not      " + canonical_text(predicted.front().config) +
                          " (predicted for this size, 50.0 us)"));
  CHECK_THAT(machine.explain(2048), !Contains("not      "));
}

TEST_CASE("Without data there is no number") {
  const Machine machine({tuned(1024, 2)});
  CHECK_THAT(machine.explain(2048), Contains("regret   how far from this place's own best is not "
                                             "known") &&
                                        !Contains("expected within"));
  CHECK(json::parse(machine.explain(2048, {"--json"}))["regret"].is_null());
}

TEST_CASE("A GPU without entries gets the nearest one's winner, named, and no invented number") {
  const Machine machine({tuned(1024, 2, 114), tuned(1024, 5, 66)});
  const std::string text = machine.explain(1024);
  CHECK_THAT(text, Contains("measured fastest on A GPU, another device of this architecture (114 "
                            "SMs)"));
  // Between 114 and 66 SMs is 0.8 of a doubling, from 114 to this one's 132 is 0.2: not alike.
  CHECK_THAT(text, Contains("is not known"));
  const Machine known({tuned(1024, 2, 114), tuned(1024, 5, 100)});
  CHECK_THAT(known.explain(1024),
             Contains("12.0 % slower on average, 12.0 % at worst (2 samples)"));
}

}  // namespace
}  // namespace heddle
