// Winners of databases in turns, on the fake GPU, whose times do not vary.
#include <algorithm>
#include <regex>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/fake_gpu_tuning.hpp"

namespace heddle {
namespace {

using Catch::Contains;
using nlohmann::json;

std::vector<std::string> versus(const HeddleProcess& heddle, const std::string& own,
                                const std::string& other, std::vector<std::string> more = {}) {
  std::vector<std::string> words{"bench",
                                 "--head-dim",
                                 "64",
                                 "--heads",
                                 "2",
                                 "--seqlen-q",
                                 "96",
                                 "--seqlen-kv",
                                 "96",
                                 "--samples",
                                 "9",
                                 "--results",
                                 heddle.path(own),
                                 "--versus",
                                 heddle.path(other)};
  words.insert(words.end(), kFakeMachine.begin(), kFakeMachine.end());
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

struct TwoTunings {
  TwoTunings() {
    for (const std::string limit : {"1", "40"}) {
      auto words = small_tuning({"--results", heddle.path(limit + ".db")});
      *(std::find(words.begin(), words.end(), "--limit") + 1) = limit;
      const auto tuned = heddle.run(words);
      INFO(tuned.errors);
      REQUIRE(tuned.code == 0);
    }
  }
  HeddleProcess heddle;
};

TEST_CASE("A winner that another database beats has a regret, and that one none") {
  const TwoTunings tunings;
  const auto slow = tunings.heddle.run(versus(tunings.heddle, "1.db", "40.db", {"--json"}));
  INFO(slow.errors);
  REQUIRE(slow.code == 0);
  const json result = json::parse(slow.output)[0];
  CHECK(result["regret"].get<double>() > 0.01);
  CHECK(result["noise"].get<double>() == Approx(0).margin(1e-9));
  CHECK(result["inside_noise"] == false);
  CHECK(result["config"] != result["other"]);

  const auto fast = tunings.heddle.run(versus(tunings.heddle, "40.db", "1.db"));
  REQUIRE(fast.code == 0);
  CHECK_THAT(fast.output, Contains("regret -") && Contains("beyond the noise") &&
                              Contains("1 problems: mean regret -"));
  // Beside itself, and the fastest that were measured on the way: the same, and nothing missed.
  const auto same =
      tunings.heddle.run(versus(tunings.heddle, "40.db", "40.db", {"--fastest", "3"}));
  CHECK_THAT(same.output, Contains("the same config") && Contains("worst 0.00 %, 0 beyond"));
}

TEST_CASE("What --versus cannot do is told") {
  const TwoTunings tunings;
  const HeddleProcess& heddle = tunings.heddle;
  auto other = versus(heddle, "1.db", "40.db");
  *(std::find(other.begin(), other.end(), "--seqlen-kv") + 1) = "50";
  const auto unknown = heddle.run(other);
  CHECK(unknown.code == 1);
  CHECK_THAT(unknown.errors,
             Contains("left out, not every database or recording has a winner for it"));
  heddle.write("text.db", "this is no database, whatever its name says");
  const auto text = heddle.run(versus(heddle, "1.db", "text.db"));
  CHECK(text.code == 2);
  CHECK_THAT(text.errors, Contains("text.db' cannot be read"));
  CHECK(heddle.read("text.db") == "this is no database, whatever its name says");
  const auto family = heddle.run(versus(heddle, "1.db", "40.db", {"--family", "fa2"}));
  CHECK(family.code == 2);
  CHECK_THAT(family.errors, Contains("leave --family and --set away"));
  const auto suite = heddle.run(versus(heddle, "1.db", "40.db", {"--suite", "decode"}));
  CHECK(suite.code == 2);
  CHECK_THAT(suite.errors, Contains("--suite excludes --versus"));
  CHECK(heddle.run(versus(heddle, "1.db", "nowhere.db")).code == 2);
}

/// Of this size every legal config is tuned in seconds.
std::vector<std::string> tiny(std::vector<std::string> words,
                              const std::vector<std::string>& more) {
  const std::vector<std::string> problem{"--head-dim", "256", "--heads",     "1",
                                         "--seqlen-q", "48",  "--seqlen-kv", "40"};
  words.insert(words.end(), problem.begin(), problem.end());
  words.insert(words.end(), kFakeMachine.begin(), kFakeMachine.end());
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_CASE("A recording stands for the database that it came from") {
  const HeddleProcess heddle;
  const std::string whole = heddle.path("whole.db"), two = heddle.path("two.db");
  const std::string recording = heddle.path("whole.recording");
  const auto tune = [&](const std::vector<std::string>& more) {
    const auto tuned = heddle.run(tiny({"tune", "--families", "fa2", "--samples", "5"}, more));
    INFO(tuned.errors);
    REQUIRE(tuned.code == 0);
  };
  tune({"--results", whole});
  tune({"--results", two, "--limit", "2"});
  REQUIRE(heddle.run({"db", "record", "--results", whole, "-o", recording}).code == 0);

  const auto versus = [&](const std::string& own, const std::string& other,
                          std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--results", own, "--versus", other});
    return heddle.run(tiny({"bench", "--samples", "9"}, more));
  };
  const auto beside_rows = versus(two, whole, {"--json"});
  const auto beside_recording = versus(two, recording, {"--json", "--fastest", "3"});
  INFO(beside_recording.errors);
  REQUIRE(beside_rows.code == 0);
  REQUIRE(beside_recording.code == 0);
  const json missed = json::parse(beside_recording.output)[0];
  CHECK(missed["regret"].get<double>() > 0.01);
  CHECK(missed["regret"].get<double>() ==
        Approx(json::parse(beside_rows.output)[0]["regret"].get<double>()).margin(0.005));
  CHECK(missed["inside_noise"] == false);
  // The winner is among the three fastest.
  const auto same = versus(whole, recording, {"--fastest", "3"});
  INFO(same.output << same.errors);
  CHECK(same.code == 0);
  CHECK_THAT(same.output, Contains("0 beyond"));
}

TEST_CASE("What a recording does not hold, or what is none, is told") {
  const TwoTunings tunings;
  const HeddleProcess& heddle = tunings.heddle;
  heddle.write("text.recording", "this is no recording, whatever its name says\n");
  const auto text = heddle.run(versus(heddle, "1.db", "text.recording"));
  CHECK(text.code == 2);
  CHECK_THAT(text.errors, Contains("text.recording:1: begins with 'this is no recording"));
  heddle.write("empty.recording", "heddle_recordings 1\n");
  const auto empty = heddle.run(versus(heddle, "1.db", "empty.recording"));
  CHECK(empty.code == 1);
  CHECK_THAT(empty.errors, Contains("left out, not every database or recording has a winner"));
}

TEST_CASE("db record leaves out what is not whole; db regret tells what it cannot read") {
  const TwoTunings tunings;
  const HeddleProcess& heddle = tunings.heddle;
  const auto part =
      heddle.run({"db", "record", "--results", heddle.path("40.db"), "-o", heddle.path("x")});
  CHECK(part.code == 1);
  CHECK_THAT(part.errors, Contains("left out, 40 of 852 legal configs") && Contains("0 problems"));
  heddle.write("broken", "heddle_recordings 9\n");
  const auto broken = heddle.run({"db", "regret", heddle.path("broken")});
  CHECK(broken.code == 2);
  CHECK_THAT(broken.errors, Contains("broken:1: begins with 'heddle_recordings 9'"));
  const auto none = heddle.run({"db", "regret", heddle.path("x")});
  INFO(none.output << none.errors);
  CHECK(none.code == 1);
  CHECK_THAT(none.errors, Contains("no problem is recorded"));
}

TEST_CASE("db record takes the rows of one set of versions and counts the others") {
  const TwoTunings tunings;
  const HeddleProcess& heddle = tunings.heddle;
  const auto record = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"db", "record",        "--results", heddle.path("40.db"),
                                   "-o", heddle.path("x")};
    words.insert(words.end(), more.begin(), more.end());
    return heddle.run(words);
  };
  std::string rows = heddle.run({"db", "export", "--all", "--results", heddle.path("1.db")}).output;
  const std::regex driver("driver_version: \"[^\"]*\""), when("when: \"[^\"]*\"");
  REQUIRE(std::regex_search(rows, driver));
  rows = std::regex_replace(rows, driver, "driver_version: \"99.8\"");
  rows = std::regex_replace(rows, when, "when: \"2020-01-01T00:00:00Z\"");
  const auto count = std::to_string(std::distance(
      std::sregex_iterator(rows.begin(), rows.end(), driver), std::sregex_iterator()));
  heddle.write("older.yaml", rows);
  REQUIRE(heddle.run({"db", "import", "--results", heddle.path("40.db"), heddle.path("older.yaml")})
              .code == 0);

  const auto newest = record({});
  INFO(newest.errors);
  CHECK_THAT(newest.errors, Contains("40 of 852 legal configs are measured by heddle ") &&
                                Contains(count + " rows by heddle ") &&
                                Contains(", driver 99.8, NVRTC ") && Contains(" are left out: "));
  const auto asked = record({"--made-by", "driver 99.8"});
  INFO(asked.errors);
  CHECK_THAT(asked.errors, Contains("1 of 852 legal configs are measured by heddle ") &&
                               Contains("driver 99.8") && Contains("2020-01-01T00:00:00Z"));
  const auto unknown = record({"--made-by", "driver 77.7"});
  CHECK(unknown.code == 1);
  CHECK_THAT(unknown.errors, Contains("driver 99.8") && Contains("0 problems"));
}

}  // namespace
}  // namespace heddle
