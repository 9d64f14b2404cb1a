// Searching again through recordings. What is made up here, or recorded on the fake GPU, says
// nothing of a real one; recordings of real ones are held to limits.
#include "tuner/replay.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "generator/candidates.hpp"
#include "tuner/recording_file.hpp"
#include "tuner/regret_summary.hpp"
#include "tuning_db/results_store.hpp"

namespace heddle {
namespace {

namespace fs = std::filesystem;

const DeviceLimits& sm90() {
  return find_architecture("sm_90a");
}

DeviceClass device() {
  return {.capability_major = 9,
          .capability_minor = 0,
          .sm_count = sm90().sm_count,
          .shared_bytes_per_block = sm90().shared_bytes_per_block,
          .l2_bytes = sm90().l2_bytes,
          .name = "made up"};
}

Problem problem() {
  Problem problem;
  problem.variant = {.head_dim = 128, .mask = MaskKind::kCausal};
  problem.sizes = {.heads = 32, .kv_heads = 8, .seqlen_q = 4096, .seqlen_kv = 4096};
  return problem;
}

/// Between 0 and 1, from a text.
double hashed(const std::string& text) {
  return static_cast<double>(hash_text(text).low >> 11) * 0x1p-53;
}

/// Every legal config with a made-up time: the prediction, wrong by a factor for each knob's value
/// and a little for each config, and seven samples with 1 % of noise.
std::vector<Measurement> made_up(const std::string& world) {
  std::vector<Measurement> rows;
  for (const RankedConfig& ranked : rank_candidates(problem(), sm90())) {
    double factor = 1 + 0.02 * hashed(world + canonical_text(ranked.config));
    for_each_field(ranked.config, [&](const auto& knob, const auto& value) {
      factor *= 1 + 0.15 * hashed(world + std::string(knob.name) + value_text(value));
    });
    Measurement row;
    row.variant = problem().variant;
    row.sizes = problem().sizes;
    row.bucket = bucket_of(row.sizes);
    row.device = device();
    row.config = ranked.config;
    row.median_seconds = ranked.prediction.seconds * factor;
    row.check = CheckRecord{.passed = true};
    for (int sample = 0; sample < 7; ++sample) {
      const double noise = 0.01 * hashed(world + std::to_string(sample) + row.timings);
      row.timings += std::to_string(row.median_seconds * (1 + noise) * 1e9) + "@1755 ";
    }
    if (hashed(world + "fails" + canonical_text(row.config)) < 0.05) {
      row.evidence = Evidence::kFailed;
      row.failure = "made to fail";
    }
    rows.push_back(row);
  }
  return rows;
}

TEST_CASE("A recording holds every config once, its samples and its failures") {
  auto rows = made_up("a");
  Measurement fewer = rows.front();  // the same config, measured worse
  fewer.timings = "1@1755";
  rows.push_back(fewer);
  const auto recordings = recordings_of(rows);
  REQUIRE(recordings.size() == 1);
  const Recording& recording = recordings[0];
  CHECK(recording.entries.size() == rows.size() - 1);
  CHECK(recording.problem == problem());
  int failed = 0;
  for (const auto& entry : recording.entries) failed += std::isinf(entry.cost) ? 1 : 0;
  CHECK(failed > 0);
  CHECK(recording.best_cost() > 1e-6);
  CHECK(std::is_sorted(recording.entries.begin(), recording.entries.end(),
                       [](const auto& left, const auto& right) {
                         return left.predicted_seconds < right.predicted_seconds;
                       }));
  // A recording survives its export.
  const auto again = recordings_of(import_yaml(export_yaml(rows), "rows.yaml"));
  REQUIRE(again.size() == 1);
  CHECK(again[0].best_cost() == recording.best_cost());
}

TEST_CASE("A recording is by one heddle, driver and NVRTC: the newest, or the one asked for") {
  const auto by = [](std::vector<Measurement> rows, const Provenance& origin) {
    for (Measurement& row : rows) row.provenance = origin;
    return rows;
  };
  const auto all = made_up("a");
  const Provenance newest{"13.0", "13.0", "0.1.0", "", "2025-03-01T00:00:00Z", ""};
  const int kept = 30;
  auto rows = by({all.begin(), all.begin() + kept}, newest);
  // The others are faster, and more in number and samples: nothing that speaks for the newest.
  const Provenance others[] = {{"12.8", "13.0", "0.1.0", "", "2025-02-01T00:00:00Z", ""},
                               {"13.0", "12.8", "0.1.0", "", "2025-01-01T00:00:00Z", ""},
                               {"13.0", "13.0", "0.0.9", "", "2025-01-02T00:00:00Z", ""}};
  for (const Provenance& origin : others) {
    for (Measurement row : by(all, origin)) {
      row.timings = "1@1755 1@1755 1@1755 1@1755 1@1755 1@1755 1@1755 1@1755";
      rows.push_back(row);
    }
  }
  const int left_out = static_cast<int>(all.size());
  const auto recordings = recordings_of(rows);
  REQUIRE(recordings.size() == 1);
  CHECK(recordings[0].entries.size() == kept);
  CHECK(recordings[0].best_cost() > 1e-6);
  CHECK(recordings[0].made == "heddle 0.1.0, driver 13.0, NVRTC 13.0, 2025-03-01T00:00:00Z");
  CHECK(recordings[0].left_out ==
        std::map<std::string, int>{{"heddle 0.1.0, driver 12.8, NVRTC 13.0", left_out},
                                   {"heddle 0.1.0, driver 13.0, NVRTC 12.8", left_out},
                                   {"heddle 0.0.9, driver 13.0, NVRTC 13.0", left_out}});

  const auto asked = recordings_of(rows, "NVRTC 12.8");
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].entries.size() == all.size());
  CHECK(asked[0].best_cost() == Approx(1e-9));
  CHECK(asked[0].made == "heddle 0.1.0, driver 13.0, NVRTC 12.8, 2025-01-01T00:00:00Z");
  CHECK(asked[0].left_out.at("heddle 0.1.0, driver 13.0, NVRTC 13.0") == kept);
  // Of several that match, the newest.
  CHECK(recordings_of(rows, "driver 13.0, NVRTC 13.0")[0].entries.size() == kept);
  const auto unknown = recordings_of(rows, "driver 11.0");
  REQUIRE(unknown.size() == 1);
  CHECK(unknown[0].entries.empty());
  CHECK(unknown[0].left_out.size() == 4);
}

TEST_CASE("What strategies find in made-up worlds, for what they try") {
  struct Limits {
    Strategy strategy;
    double most_tried;   ///< share of all
    double mean_regret;  ///< over the worlds, one noisy sample a trial
  };
  const Limits limits =
      GENERATE(Limits{Strategy::kExhaustive, 1.0, 0.002}, Limits{Strategy::kRanked, 0.3, 0.01},
               Limits{Strategy::kLocal, 0.10, 0.06}, Limits{Strategy::kRandom, 0.11, 0.10});
  double tried = 0, regret = 0;
  constexpr int kWorlds = 12;
  for (int world = 0; world < kWorlds; ++world) {
    const auto recording = recordings_of(made_up(std::to_string(world))).front();
    const Replayed result = Replay(recording).run(limits.strategy, 5);
    tried += static_cast<double>(result.tried) / static_cast<double>(recording.entries.size());
    regret += result.regret;
  }
  INFO(enum_name(limits.strategy) << ": tried " << tried / kWorlds << ", mean regret "
                                  << regret / kWorlds);
  CHECK(tried / kWorlds <= limits.most_tried);
  CHECK(regret / kWorlds <= limits.mean_regret);
  CHECK(regret >= 0);
}

std::vector<fs::path> files_named(const std::string& extension) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(HEDDLE_RECORDINGS)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string read(const fs::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::vector<Recording> recorded_on_gpus() {
  std::vector<Recording> recordings;
  for (const fs::path& file : files_named(".recording")) {
    const auto some = parse_recordings(read(file), file.filename().string());
    recordings.insert(recordings.end(), some.begin(), some.end());
  }
  return recordings;
}

/// What recordings of a GPU are held to.
constexpr double kMeanRegret = 0.01;
constexpr double kWorstRegret = 0.015;
constexpr double kEightNearShare = 0.9;
constexpr double kPredictedOnly = 0.12;
constexpr std::size_t kLeastProblems = 12;
constexpr int kLeastConfigs = 100;
constexpr int kLeastSamples = 5;

TEST_CASE("Rows in the repository are readable as recordings") {
  REQUIRE_FALSE(files_named(".yaml").empty());
  for (const fs::path& file : files_named(".yaml")) {
    for (const Recording& recording :
         recordings_of(import_yaml(read(file), file.filename().string()))) {
      INFO(file << ' ' << canonical_text(recording.problem.sizes));
      CHECK(recording.entries.size() >= 20);
      CHECK(std::isfinite(recording.best_cost()));
      CHECK(Replay(recording).run(Strategy::kExhaustive, 1).tried == recording.entries.size());
    }
  }
}

TEST_CASE("What was recorded on GPUs holds the limits") {
  const auto recordings = recorded_on_gpus();
  REQUIRE(recordings.size() >= kLeastProblems);
  const RegretSummary summary = summarise(recordings);
  for (const ProblemRegret& problem : summary.problems) {
    INFO(problem.problem);
    CHECK(problem.configs >= kLeastConfigs);
    CHECK(problem.configs == problem.legal);
    CHECK(problem.fewest_samples >= kLeastSamples);
    INFO("local " << problem.local.worst << ", ranked " << problem.ranked.worst);
    CHECK(problem.local.mean <= kWorstRegret);
    CHECK(problem.ranked.mean <= kWorstRegret);
  }
  CHECK(summary.local_mean <= kMeanRegret);
  CHECK(summary.ranked_mean <= kMeanRegret);
  CHECK(summary.eight_near_share >= kEightNearShare);
  CHECK(summary.predicted_first_mean <= kPredictedOnly);
}

/// Two tunings agree where what they choose differs, in recorded cost, by no more than the larger
/// of the noise floors that their last races measured, or by no more than this. In the recording of
/// an H200 those floors are 0.15 to 0.73 % (medians of a problem's tunings).
constexpr double kAlike = 0.003;
constexpr double kAgreeShare = 0.95;
constexpr std::uint64_t kTunings = 100;

double agreeing_pairs(const std::vector<Replayed>& tunings) {
  int agree = 0, pairs = 0;
  for (std::size_t i = 0; i < tunings.size(); ++i) {
    for (std::size_t j = i + 1; j < tunings.size(); ++j) {
      const double difference = (1 + tunings[i].regret) / (1 + tunings[j].regret);
      const double allowed = std::max({kAlike, tunings[i].noise, tunings[j].noise});
      agree += std::max(difference, 1 / difference) <= 1 + allowed ? 1 : 0;
      ++pairs;
    }
  }
  return static_cast<double>(agree) / pairs;
}

TEST_CASE("Two tunings of a problem that was recorded on a GPU agree inside the noise") {
  for (const Recording& recording : recorded_on_gpus()) {
    const Replay replay(recording);
    std::vector<Replayed> tunings;
    for (std::uint64_t seed = 1; seed <= kTunings; ++seed) {
      tunings.push_back(replay.run(Strategy::kLocal, seed));
    }
    INFO(canonical_text(recording.problem.variant)
         << " | " << canonical_text(recording.problem.sizes));
    CHECK(agreeing_pairs(tunings) >= kAgreeShare);
  }
}

}  // namespace
}  // namespace heddle
