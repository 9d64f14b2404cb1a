// `heddle bench --suite NAME --from FILE.csv --svg OUT.svg`: the plots of docs/plots come out of
// the CSVs beside them to the byte, and a CSV that cannot be drawn is told by file, line and
// column.
#include <filesystem>
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

#include "tests/cli/heddle_process.hpp"

namespace heddle {
namespace {

using Catch::Contains;
namespace fs = std::filesystem;

const fs::path kPlots = HEDDLE_PLOTS;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

ProcessResult draw(const HeddleProcess& heddle, const std::string& suite, const std::string& csv,
                   const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"bench", "--suite", suite, "--from", csv};
  words.insert(words.end(), more.begin(), more.end());
  return heddle.run(words);
}

TEST_CASE("every plot of the documents is what its CSV draws") {
  const HeddleProcess heddle;
  int plots = 0;
  for (const auto& entry : fs::directory_iterator(kPlots)) {
    if (entry.path().extension() != ".svg") continue;
    ++plots;
    const std::string suite = entry.path().stem().string();
    INFO(suite);
    const std::string csv = (kPlots / (suite + ".csv")).string();
    const auto result = draw(heddle, suite, csv, {"--svg", heddle.path("again.svg")});
    INFO(result.errors);
    REQUIRE(result.code == 0);
    CHECK_THAT(result.output, Contains("drawn from " + csv));
    CHECK((heddle.read("again.svg") == content_of(entry.path())));  // scripts/draw_plots
  }
  CHECK(plots >= 8);
}

TEST_CASE("the README's plot and its CSV are what the comparison's CSV says") {
  const HeddleProcess heddle;
  const auto result =
      draw(heddle, "lengths", (kPlots / "compare.csv").string(),
           {"--csv", heddle.path("lengths.csv"), "--svg", heddle.path("lengths.svg")});
  INFO(result.errors);
  REQUIRE(result.code == 0);
  CHECK((heddle.read("lengths.csv") == content_of(kPlots / "lengths.csv")));
  CHECK((heddle.read("lengths.svg") == content_of(kPlots / "lengths.svg")));
}

TEST_CASE("a CSV that cannot be drawn is refused with what to do") {
  const HeddleProcess heddle;
  struct Wrong {
    std::string suite, csv;
    std::vector<std::string> messages;
  };
  const std::string facts = ",suite,date,command\n", of_decode = ",decode,2026-12-01,none\n";
  const Wrong wrong[] = {
      {"decode",
       "batch,seqlen_kv,gbps,suite,date,command\n1,4096,5,generations,2026-12-01,none\n",
       {"line 2, column 'suite': 'generations' is not decode", "say --suite generations"}},
      {"decode", "a,b\n1,2\n", {"has no column 'suite'", "heddle bench --suite decode --csv"}},
      {"decode", "batch" + facts, {"has no measurements"}},
      {"decode", "", {"is not empty"}},
      {"decode", "batch,gbps" + facts + "1,5" + of_decode, {"has no column 'seqlen_kv'", "gbps"}},
      {"decode",
       "batch,seqlen_kv,gbps" + facts + "1,4096,5" + of_decode + "1,8192,fast" + of_decode,
       {"line 3, column 'gbps': 'fast' is no number above 0", "mend the field"}},
      {"decode",
       "batch,seqlen_kv,gbps" + facts + "1.5,4096,5" + of_decode,
       {"line 2, column 'batch': '1.5' is no whole number"}},
      {"decode", "batch,seqlen_kv,gbps" + facts + "1,4096" + of_decode, {"line 2 has 5 fields"}},
      {"generations",
       "head_dim,mask,length,generation,tflops,peer_tflops" + facts +
           "64,some,512,fa2,1,,generations,2026-12-01,none\n",
       {"line 2, column 'mask': 'some' is neither full nor causal"}},
      {"generations",
       "head_dim,mask,length,generation,tflops,peer_tflops" + facts +
           "64,full,512,fa9,1,,generations,2026-12-01,none\n",
       {"column 'generation': 'fa9' is none of unfused, fa1, fa2, fa3, fp8"}},
      {"fa3-pipeline",
       "ablation,tflops,published_tflops" + facts + "all,1,,fa3-pipeline,2026-12-01,none\n",
       {"column 'ablation': 'all' is none of this suite's"}},
      {"fa1-io",
       "batch,length,family,model_bytes,counter_bytes,seconds" + facts +
           "1,512,fa9,1,,1,fa1-io,2026-12-01,none\n",
       {"column 'family': 'fa9' is none of"}}};
  for (const Wrong& each : wrong) {
    const std::string csv = heddle.write("wrong.csv", each.csv);
    const auto result = draw(heddle, each.suite, csv, {"--svg", heddle.path("out.svg")});
    INFO(each.csv << "\n" << result.errors);
    CHECK(result.code == 2);
    CHECK(result.output.empty());
    CHECK_THAT(result.errors, Contains(csv));
    for (const std::string& message : each.messages) CHECK_THAT(result.errors, Contains(message));
    CHECK_FALSE(fs::exists(heddle.path("out.svg")));
  }
  const auto missing = draw(heddle, "decode", heddle.path("no.csv"), {"--svg", "out.svg"});
  CHECK(missing.code == 2);
  CHECK_THAT(missing.errors, Contains("no.csv"));
}

TEST_CASE("what only a measurement has is refused where a plot is drawn again") {
  const HeddleProcess heddle;
  const std::string csv = (kPlots / "generations.csv").string();
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{"--csv", "x.csv"}, "--csv: "},    {{"--markdown", "x.md"}, "--markdown: "},
      {{"--json"}, "--json: "},           {{"--sweep", "512"}, "--sweep: "},
      {{"--budget", "5"}, "--budget: "},  {{"--samples", "5"}, "--samples: "},
      {{"--peers", "no.yaml"}, "no.yaml"}};
  for (const auto& [flags, message] : wrong) {
    auto more = flags;
    more.insert(more.end(), {"--svg", heddle.path("out.svg")});
    const auto result = draw(heddle, "generations", csv, more);
    INFO(message << "\n" << result.errors);
    CHECK(result.code == 2);
    CHECK_THAT(result.errors, Contains(message));
  }
  const auto silent = draw(heddle, "generations", csv);
  CHECK(silent.code == 2);
  CHECK_THAT(silent.errors, Contains("give the file to write as --svg FILE"));
}

}  // namespace
}  // namespace heddle
