// `heddle bench --suite fp8-accuracy`: needs no GPU.
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/heddle_process.hpp"

namespace heddle {
namespace {

using Catch::Contains;

TEST_CASE("the accuracy suite shows what each ingredient of quantising is worth") {
  const auto result =
      HeddleProcess().run({"bench", "--suite", "fp8-accuracy", "--heads", "2", "--seqlen-q", "160",
                           "--seqlen-kv", "160", "--head-dim", "64", "--json"});
  INFO(result.errors);
  REQUIRE(result.code == 0);
  const auto json = nlohmann::json::parse(result.output);
  CHECK(json["command"] ==
        "heddle bench --suite fp8-accuracy --heads 2 --seqlen-q 160 --seqlen-kv 160 --head-dim 64");
  CHECK(json["rows"][0]["sizes"] == "heads=2,seqlen_q=160,seqlen_kv=160");
  std::map<std::string, std::map<std::string, double>> rows;
  std::map<std::string, double> published;
  for (const auto& row : json["rows"]) {
    rows[row["recipe"]][row["inputs"]] = row["rms_error"];
    if (row["published_rms_error"].is_null()) continue;
    CHECK(row["inputs"] == "outliers");
    published[row["recipe"]] = row["published_rms_error"];
  }
  const auto error = [&](const std::string& recipe, const char* inputs) {
    REQUIRE(rows.count(recipe) == 1);
    REQUIRE(rows[recipe].count(inputs) == 1);
    return rows[recipe][inputs];
  };
  CHECK(error("fp16", "normal") < 0.1 * error("bf16", "normal"));
  CHECK(error("bf16", "normal") < 0.2 * error("e4m3, scales by tensor", "normal"));
  CHECK(error("e4m3, scales by tensor, rotated", "loud_channels") <
        0.6 * error("e4m3, scales by tensor", "loud_channels"));
  CHECK(error("e4m3, scales by token", "heavy_tails") <
        0.9 * error("e4m3, scales by tensor", "heavy_tails"));
  CHECK(error("e4m3, scales by head, rotated, K's mean off, V's mean off", "offsets") <
        0.7 * error("e4m3, scales by head, rotated", "offsets"));
  // The paper's, each beside the recipe that it is of.
  CHECK(published == std::map<std::string, double>{{"fp16", 1.9e-4},
                                                   {"e4m3, scales by tensor", 2.4e-2},
                                                   {"e4m3, scales by block", 2.4e-2},
                                                   {"e4m3, scales by tensor, rotated", 9.3e-3},
                                                   {"e4m3, scales by block, rotated", 9.1e-3}});
}

TEST_CASE("the accuracy suite refuses what it goes through itself") {
  const auto dtype = HeddleProcess().run({"bench", "--suite", "fp8-accuracy", "--dtype", "bf16"});
  CHECK(dtype.code == 2);
  CHECK_THAT(dtype.errors, Contains("dtype: --suite fp8-accuracy goes through all"));
  const auto empty = HeddleProcess().run({"bench", "--suite", "fp8-accuracy", "--seqlen-kv", "0"});
  CHECK(empty.code == 2);
  CHECK_THAT(empty.errors, Contains("without outputs or keys"));
  const auto head_dim =
      HeddleProcess().run({"bench", "--suite", "fp8-accuracy", "--head-dim", "80"});
  CHECK(head_dim.code == 2);
  CHECK_THAT(head_dim.errors, Contains("head_dim: 80"));
}

}  // namespace
}  // namespace heddle
