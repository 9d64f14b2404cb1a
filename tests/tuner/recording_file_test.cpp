// Recordings as text: nothing that replaying needs is lost, and what is wrong is told with its
// line.
#include "tuner/recording_file.hpp"

#include <catch2/catch.hpp>
#include <cmath>

namespace heddle {
namespace {

using Catch::Contains;

const std::string kText = R"(# a comment
heddle_recordings 1

problem head_dim=64 | heads=16,seqlen_q=512,seqlen_kv=512
device capability_major=9,sm_count=132,shared_bytes_per_block=232448,l2_bytes=62914560 | A GPU
made by hand
legal 3
common family=fa3,warps=8,stages=3
knobs tile_m tile_n query_stages ping_pong
128 112 1 0 | failed | ptxas spills 40 B
128 128 2 1 | 0.80000 | 799000 800000 801000
64 64 1 1 | 1.00000 | 1000000
)";

TEST_CASE("A recording is read, and written again the same") {
  const auto recordings = parse_recordings(kText, "hand.recording");
  REQUIRE(recordings.size() == 1);
  const Recording& recording = recordings[0];
  CHECK(recording.problem.variant.head_dim == 64);
  CHECK(recording.problem.sizes.heads == 16);
  CHECK(recording.device.sm_count == 132);
  CHECK(recording.device.name == "A GPU");
  CHECK(recording.legal == 3);
  REQUIRE(recording.entries.size() == 3);
  CHECK(recording.best_cost() == Approx(0.8));
  int failed = 0;
  for (const auto& entry : recording.entries) {
    CHECK(entry.config.family == Family::kFa3);
    CHECK(entry.config.warps == 8);
    if (std::isinf(entry.cost)) {
      ++failed;
      CHECK(entry.failure == "ptxas spills 40 B");
      CHECK(entry.config.tile_n == 112);
    } else if (entry.config.tile_n == 128) {
      CHECK(entry.config.query_stages == 2);
      CHECK(entry.config.ping_pong);
      // Samples in the unit of the cost.
      REQUIRE(entry.samples.size() == 3);
      CHECK(entry.samples[0] == Approx(0.799));
    }
  }
  CHECK(failed == 1);
  const std::string again = recordings_text(recordings);
  CHECK_THAT(again, Contains(kText.substr(kText.find("problem"))));
  CHECK(recordings_text(parse_recordings(again, "again")) == again);
}

TEST_CASE("Failures of any length and shape stay one line") {
  auto recordings = parse_recordings(kText, "hand.recording");
  for (auto& entry : recordings[0].entries) {
    if (entry.seconds.empty()) entry.failure = std::string(300, 'x') + "\nsecond | line";
  }
  const std::string text = recordings_text(recordings);
  CHECK_THAT(text, !Contains("second") && Contains("| failed | xxx"));
  CHECK(recordings_text(parse_recordings(text, "again")) == text);
}

TEST_CASE("A recording of which a part is missing, or there twice, is refused") {
  // Wherever it is cut: never read as a smaller one.
  const std::size_t first = kText.find("64 64 1 1");
  for (std::size_t length = kText.find("legal 3") + 8; length < kText.size(); ++length) {
    INFO(kText.substr(0, length));
    CHECK_THROWS_WITH(parse_recordings(kText.substr(0, length), "hand"), Contains("hand:"));
  }
  CHECK_THROWS_WITH(parse_recordings(kText.substr(0, first), "hand"),
                    Contains("hand:11: a problem ends here with 2 configs after 'legal 3'"));
  const std::string last = kText.substr(first);
  CHECK_THROWS_WITH(parse_recordings(kText + last, "hand"), Contains("4 configs after 'legal 3'"));
  std::string twice = kText + last;
  twice.replace(twice.find("legal 3"), 7, "legal 4");
  CHECK_THROWS_WITH(parse_recordings(twice, "hand"), Contains("hand:13: ") && Contains("twice"));
  CHECK_THROWS_WITH(
      parse_recordings(kText.substr(0, first) + kText.substr(kText.find("problem")), "hand"),
      Contains("hand:12: ") && Contains("2 configs"));
}

TEST_CASE("What is wrong in a recording is told with its line") {
  struct Wrong {
    std::string from, to, told;
  };
  const Wrong wrong = GENERATE(
      Wrong{"heddle_recordings 1", "heddle_recordings 2",
            "hand:2: begins with 'heddle_recordings 2'"},
      Wrong{"64 64 1 1 |", "128 64 1 |", "hand:12: wants 4 knobs"},
      Wrong{"64 64 1 1 |", "128 64 1 2 |", "hand:12: ping_pong: '2' is not true or false"},
      Wrong{"| 1.00000 |", "| -1 |", "hand:12: relative: '-1'"},
      Wrong{"1000000\n", "10x\n", "hand:12: samples: '10x'"}, Wrong{"1000000\n", "\n", "hand:12"},
      Wrong{"legal 3", "legal many", "hand:7: legal: 'many' is not a number"},
      Wrong{"tile_m", "tile_x", "unknown field 'tile_x'"},
      Wrong{" | heads=16,seqlen_q=512,seqlen_kv=512", "",
            "hand:4: problem: wants 'variant | sizes'"},
      Wrong{"legal 3", "legal -3", "hand:7: legal: '-3' is not a number"},
      Wrong{"device ", "# device ", "hand:10: a config stands before its problem's 'device'"},
      Wrong{"problem ", "# problem ", "hand:5: 'device' stands before the first 'problem'"});
  std::string text = kText;
  const auto at = text.find(wrong.from);
  REQUIRE(at != std::string::npos);
  text.replace(at, wrong.from.size(), wrong.to);
  // And once.
  CHECK_THROWS_WITH(parse_recordings(text, "hand"), Contains(wrong.told) && !Contains(": hand:"));
  CHECK_THROWS_WITH(parse_recordings("", "hand"), Contains("is missing"));
}

}  // namespace
}  // namespace heddle
