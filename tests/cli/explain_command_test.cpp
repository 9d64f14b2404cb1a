// `heddle explain` as a process: each form of output, each wrong use, and a fake GPU to measure on.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/fake_gpu_tuning.hpp"
#include "tests/cli/well_formed.hpp"

namespace heddle {
namespace {

using Catch::Contains;
using nlohmann::json;

using Words = std::vector<std::string>;

Words explain_words(const Words& more) {
  Words words{"explain", "--arch", "sm_90a", "--heads", "16", "--batch", "4", "--seqlen-q", "4096"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_CASE("Text and JSON of every family") {
  const HeddleProcess heddle;
  for (const std::string family : {"unfused", "fa1", "fa2", "fa3"}) {
    Words flags{"--family", family};
    if (family == "fa3") flags.insert(flags.end(), {"--set", "tile_m=128,warps=8"});
    const auto text = heddle.run(explain_words(flags));
    INFO(family << text.errors);
    CHECK(text.code == 0);
    CHECK_THAT(text.output, Contains("family=" + family) && Contains("4. What overlaps what"));
    flags.push_back("--json");
    const auto out = heddle.run(explain_words(flags));
    CHECK(out.code == 0);
    const json parsed = json::parse(out.output);
    CHECK(parsed["parts"].size() == (family == "unfused" ? 3 : 1));
    CHECK(parsed["match"].is_string());
    CHECK(parsed["terms"].size() == 8);
  }
}

TEST_CASE("--family alone is a family's usual config, and knobs are set beside its plain ones") {
  const HeddleProcess heddle;
  const auto usual = heddle.run(explain_words({"--family", "fa3"}));
  CHECK_THAT(usual.output, Contains("tile_m=192, tile_n=80") && Contains("ping_pong=true"));
  const auto set = heddle.run(explain_words({"--family", "fa3", "--set", "tile_m=64,warps=4"}));
  CHECK(set.code == 0);  // one team has nobody to take turns with
  CHECK_THAT(set.output, Contains("tile_m=64") && Contains("ping_pong=false"));
}

TEST_CASE("--svg writes a file of its own beside the text") {
  const HeddleProcess heddle;
  const auto result = heddle.run(explain_words({"--svg", heddle.path("line.svg")}));
  CHECK(result.code == 0);
  CHECK_THAT(result.output, Contains("4. What overlaps what"));
  const std::string svg = heddle.read("line.svg");
  CHECK(xml_fault(svg) == "");
  CHECK_THAT(svg,
             Contains("bf16 d128 full, batch 4, 16 heads, 4096 x 4096; predicted for sm_90a<"));
  const auto nowhere = heddle.run(explain_words({"--svg", heddle.path("no/such/folder.svg")}));
  CHECK(nowhere.code == 3);
  CHECK_THAT(nowhere.errors, Contains("cannot write") && Contains("folder.svg"));
}

TEST_CASE("--compare puts families side by side, in text, JSON and SVG") {
  const HeddleProcess heddle;
  const auto text = heddle.run(
      explain_words({"--compare", "unfused,fa1,fa2,fa3", "--svg", heddle.path("all.svg")}));
  CHECK(text.code == 0);
  CHECK_THAT(text.output, Contains("what each removes") && Contains("unfused -> fa1:") &&
                              Contains("fa1 -> fa2:") && Contains("fa2 -> fa3:"));
  const std::string svg = heddle.read("all.svg");
  CHECK(xml_fault(svg) == "");
  for (const char* part : {"unfused_scores", "fa1_attention", "fa2_attention", "fa3_attention"}) {
    CHECK_THAT(svg, Contains(part));
  }
  const auto out = heddle.run(explain_words({"--compare", "fa2,fa1", "--json"}));
  CHECK(out.code == 0);
  const json parsed = json::parse(out.output);
  CHECK(parsed["generations"].size() == 2);
  CHECK(parsed["steps"][0]["from"] == "fa2");
  CHECK(parsed["steps"][0]["gain"].get<double>() < 1);  // back in time
}

TEST_CASE("Where none of the compared families may run the answer is no") {
  const HeddleProcess heddle;
  const auto result =
      heddle.run({"explain", "--arch", "sm_80", "--dtype", "e4m3", "--compare", "fa1,fa2"});
  CHECK(result.code == 1);
  CHECK_THAT(result.output, Contains("not here"));
}

TEST_CASE("Blanks between knobs and families are no part of them") {
  const HeddleProcess heddle;
  const auto spaced =
      heddle.run(explain_words({"--family", "fa2", "--set", "tile_m=64, stages = 1"}));
  INFO(spaced.errors);
  REQUIRE(spaced.code == 0);
  CHECK_THAT(spaced.output, Contains("stages=1"));
  CHECK(heddle.run(explain_words({"--compare", "fa1, fa2", "--json"})).code == 0);
}

TEST_CASE(
    "Shipped winners are listed where they are asked for, and told of where a list is empty") {
  const HeddleProcess heddle;
  const auto own = heddle.run({"db", "list"});
  CHECK(own.code == 0);
  CHECK_THAT(own.output, !Contains("H200"));
  CHECK_THAT(own.errors, Contains("--shipped"));
  const auto shipped = heddle.run({"db", "list", "--shipped"});
  CHECK(shipped.code == 0);
  CHECK_THAT(shipped.output, Contains("NVIDIA H200 (132 SMs)") && Contains("measured"));
}

TEST_CASE("Wrong use of explain is told") {
  const HeddleProcess heddle;
  const std::pair<Words, std::string> wrong[] = {
      {{"--compare", "fa1,fa4"}, "'fa4' is no family to compare"},
      {{"--compare", "reference"}, "choose from unfused, fa1, fa2, fa3"},
      {{"--compare", "fa1,fa2", "--family", "fa1"}, "leave --family and --set out"},
      {{"--compare", "fa1,fa2", "--set", "stages=1"}, "leave --family and --set out"},
      {{"--measure"}, "leave --arch out"}};
  for (const auto& [flags, message] : wrong) {
    const auto result = heddle.run(explain_words(flags));
    INFO(message);
    CHECK(result.code == 2);
    CHECK_THAT(result.errors, Contains(message));
  }
}

TEST_CASE("--measure without a GPU is code 3, and says what to install") {
  const HeddleProcess heddle;
  const Words none{"--driver", heddle.path("libcuda.so.1")};
  for (const Words& flags :
       {Words{"explain", "--measure"}, Words{"explain", "--measure", "--compare", "fa1,fa2"}}) {
    Words words = flags;
    words.insert(words.end(), none.begin(), none.end());
    const auto result = heddle.run(words);
    CHECK(result.code == 3);
    CHECK(result.output.empty());
    CHECK_THAT(result.errors, Contains("no CUDA driver") && Contains("install the NVIDIA driver"));
  }
}

TEST_CASE("--measure puts measured figures beside the predicted ones") {
  const HeddleProcess heddle;
  Words words{"explain",    "--measure", "--head-dim", "64", "--heads", "2",
              "--seqlen-q", "96",        "--samples",  "3",  "--json"};
  words.insert(words.end(), kFakeMachine.begin(), kFakeMachine.end());
  const auto one = heddle.run(words);
  INFO(one.errors);
  REQUIRE(one.code == 0);
  CHECK(json::parse(one.output)["measured"]["seconds"].get<double>() > 0);
  words.insert(words.end(), {"--compare", "fa1,fa2"});
  const auto two = heddle.run(words);
  INFO(two.errors);
  REQUIRE(two.code == 0);
  for (const auto& generation : json::parse(two.output)["generations"]) {
    CHECK(generation["explanation"]["measured"]["seconds"].get<double>() > 0);
  }
}

}  // namespace
}  // namespace heddle
