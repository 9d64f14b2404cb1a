// What explain prints and draws: text to scale, SVG that stands alone, sentences that hold.
#include <catch2/catch.hpp>

#include "cli/explain/explain_json.hpp"
#include "cli/explain/explain_text.hpp"
#include "cli/explain/generations_text.hpp"
#include "cli/explain/timeline_svg.hpp"
#include "cli/explain/timeline_text.hpp"
#include "tests/cli/well_formed.hpp"

namespace heddle {
namespace {

using Catch::Contains;

Problem prefill() {
  Problem problem;
  problem.sizes = {.batch = 4, .heads = 16, .seqlen_q = 4096, .seqlen_kv = 4096};
  return problem;
}

Explanation explained(Family family, const Problem& problem = prefill()) {
  KernelConfig config{.family = family};
  if (family == Family::kFa3) {
    config.tile_m = 128;
    config.warps = 8;
  }
  return explain(problem, config, find_architecture("sm_90a"));
}

Timeline two_spans() {
  Timeline line;
  line.end = 960;  // ten cycles a column
  line.lanes = {
      {"warps <a>",
       {{Activity::kQueryKey, 0, 0, 3, 0, 200}, {Activity::kSoftmax, 0, 0, 3, 500, 960}}}};
  return line;
}

TEST_CASE("A timeline's letters stand where its spans do") {
  const std::string text = timeline_text(two_spans());
  const std::string row = text.substr(text.find('|') + 1);
  CHECK(row.substr(0, 20) == "Q3" + std::string(18, 'Q'));
  CHECK(row.substr(20, 30) == std::string(30, ' '));
  CHECK(row.substr(50, 46) == "s3" + std::string(44, 's'));
  CHECK_THAT(text, Contains("Q Q K^T, s softmax") && !Contains("P P V"));
  CHECK(timeline_text(Timeline{}).empty());
}

TEST_CASE("The SVG is well formed, escapes names, and needs nothing from outside") {
  const std::string drawn =
      timeline_svg("a < b & \"c\"", {{"panel & co", "1 < 2", two_spans()}, {"empty", "", {}}});
  CHECK(xml_fault(drawn).empty());
  CHECK_THAT(drawn, Contains("warps &lt;a&gt;") && Contains("a &lt; b &amp; &quot;c&quot;") &&
                        Contains("prefers-color-scheme: dark") && !Contains("empty"));
  // Twice as long a span is twice as wide: 200 and 460 of 960 cycles on 810 pixels.
  CHECK_THAT(drawn, Contains("width=\"168.75\"") && Contains("width=\"388.12\""));
  // Colours are not needed: each work has a letter, on its bars with the key tile and in the
  // legend.
  CHECK_THAT(drawn, Contains(">Q3</text>") && Contains(">s3</text>") && Contains(">Q</text>") &&
                        Contains(">s</text>") && Contains(">cycles</text>"));
  for (const Family family : {Family::kUnfused, Family::kFa1, Family::kFa2, Family::kFa3}) {
    std::vector<TimelinePanel> panels;
    for (const PartExplanation& part : explained(family).parts) {
      panels.push_back({"part", "caption", part.timeline});
    }
    const std::string svg = timeline_svg("t", panels);
    INFO(enum_name(family));
    CHECK(xml_fault(svg) == "");
    for (const char* foreign : {"<script", "http:", "https:", "href", "src=", "url(", "@import"}) {
      const std::string space = "xmlns=\"http://www.w3.org/2000/svg\"";
      std::string rest = svg;
      rest.erase(rest.find(space), space.size());
      CHECK_THAT(rest, !Contains(foreign));
    }
    CHECK_THAT(svg, !Contains("nan") && !Contains("inf"));
  }
}

TEST_CASE("The check of well-formedness finds what is wrong") {
  CHECK(xml_fault("<a b=\"1\"><c/>x &amp; y</a>\n").empty());
  for (const char* wrong : {"<a><b></a></b>", "<a>", "<a b=1/>", "<a>&nope;</a>", "<a>1 < 2</a>",
                            "<a/><b/>", "x", "<a b=\"1\"c=\"2\"/>", "<a b=\"1\" b=\"2\"/>", ""}) {
    INFO(wrong);
    CHECK_FALSE(xml_fault(wrong).empty());
  }
}

TEST_CASE("Each family's text answers the four questions") {
  for (const Family family : {Family::kUnfused, Family::kFa1, Family::kFa2, Family::kFa3}) {
    const Explanation facts = explained(family);
    const std::string text = questions_text(facts) + roofline_text(facts, std::nullopt);
    INFO(text);
    for (const char* section :
         {"\n1. Tiles, and where they live", "\n2. Blocks over", "\n3. Warps, and",
          "\n4. What overlaps what", "\n5. Roofline", "\n6. Where the predicted time goes",
          "\n7. One knob further", "shared memory of a block", "registers of a block", "in HBM",
          "occupancy", "waves", "barrier", "cycles"}) {
      CHECK_THAT(text, Contains(section));
    }
    for (const PartExplanation& part : facts.parts) {
      CHECK_THAT(text, Contains(std::string(enum_name(part.launch.part))));
    }
    CHECK_THAT(text, !Contains("nan") && !Contains("inf ") && !Contains("measured"));
  }
}

TEST_CASE("The drawing's legend says what gaps are, and words that knobs bring are explained") {
  const std::string text = questions_text(explained(Family::kFa3));
  CHECK_THAT(text, Contains("each span as long as it takes") && Contains("The gaps (waiting)") &&
                       Contains("P from registers") && Contains("beside its softmax") &&
                       Contains("running_max=lazy: a row's base") && Contains("threads waiting"));
  CHECK_THAT(questions_text(explained(Family::kFa1)), !Contains("running_max="));
}

TEST_CASE("Splits, packed heads and 8-bit inputs are told") {
  Problem decode;
  decode.sizes = {.batch = 2, .heads = 32, .kv_heads = 8, .seqlen_q = 1, .seqlen_kv = 32768};
  KernelConfig split{.family = Family::kFa3, .tile_n = 128, .split_kv = true, .pack_gqa = true};
  const DeviceLimits& h200 = find_architecture("sm_90a");
  const std::string packed = questions_text(explain(decode, split, h200));
  CHECK_THAT(packed, Contains("4 query heads that share a KV head") &&
                         Contains("one of 8 parts of the keys") && Contains("split_combine") &&
                         Contains("8 splits of the keys"));
  decode.variant.dtype = DataType::kE4m3;
  split.pack_gqa = false;
  const std::string bytes = questions_text(explain(decode, split, h200));
  CHECK_THAT(bytes, Contains("V tiles to be transposed") && Contains("transpose each 8-bit V") &&
                        Contains("written a V tile in rows"));
}

TEST_CASE("Sections 5 and 6 say by what rules they count") {
  const Explanation facts = explained(Family::kFa3);
  const std::string text = roofline_text(facts, std::nullopt);
  CHECK_THAT(text, Contains("what wgmma reads there is") &&
                       Contains("92 % of the datasheet's 4.8") && Contains("at 1.65 GHz") &&
                       Contains("the slowest is charged whole") &&
                       Contains("run at the same time") && !Contains("it has no line"));
  CHECK_THAT(roofline_text(explained(Family::kFa2), std::nullopt), !Contains("wgmma"));
  CHECK(explanation_json(facts, std::nullopt)["clock_ghz"] == 1.65);
  // L2 is the lowest ceiling here, but the SMs' own work takes longer still.
  Problem decode;
  decode.sizes = {.batch = 1, .heads = 32, .kv_heads = 8, .seqlen_q = 1, .seqlen_kv = 32768};
  KernelConfig split{.family = Family::kFa3, .tile_n = 176, .split_kv = true};
  split.scheduler = TileScheduler::kStatic;
  const Explanation hidden = explain(decode, split, find_architecture("sm_90a"));
  REQUIRE(hidden.roofline.binding == "L2");
  CHECK_THAT(roofline_text(hidden, std::nullopt), Contains("it has no line"));
  // With fewer blocks than SMs the SMs' own ceilings are those of the ones that have a block.
  const std::string of_few = "of the 16 of 132 SMs that have a block";
  Problem few = prefill();
  few.sizes = {.batch = 1, .heads = 16, .seqlen_q = 4096, .seqlen_kv = 4096};
  CHECK_THAT(roofline_text(explained(Family::kFa1, few), std::nullopt), Contains(of_few));
  CHECK_THAT(text, !Contains("SMs that have a block"));
}

TEST_CASE("An empty problem says so") {
  Problem empty = prefill();
  empty.sizes.batch = 0;
  const Explanation facts = explained(Family::kFa2, empty);
  CHECK_THAT(questions_text(facts), Contains("nothing is launched"));
  CHECK(roofline_text(facts, std::nullopt).empty());
  CHECK(explanation_json(facts, std::nullopt)["parts"].empty());
}

TEST_CASE("Measured figures stand beside the predicted ones") {
  const Explanation facts = explained(Family::kFa3);
  Timing timing;
  timing.median_seconds = 2 * facts.prediction.seconds;
  timing.clock_mhz = 1650;
  CHECK_THAT(roofline_text(facts, timing),
             Contains("measured") && Contains("2.00 of the prediction"));
  const auto json = explanation_json(facts, timing);
  CHECK(json["measured"]["seconds"] == timing.median_seconds);
}

TEST_CASE("The JSON has every figure of the text") {
  const Explanation facts = explained(Family::kFa3);
  const auto json = explanation_json(facts, std::nullopt);
  const auto& part = json["parts"][0];
  long long shared = 0;
  for (const auto& item : part["shared"]) shared += item["bytes"].get<long long>();
  CHECK(shared == part["shared_bytes"]);
  double shares = 0;
  for (const auto& share : json["time_seconds"]) shares += share.get<double>();
  CHECK(shares == Approx(json["predicted_seconds"].get<double>()));
  CHECK(part["timeline"]["lanes"].size() == facts.parts[0].timeline.lanes.size());
  CHECK(json["roofline"]["ceilings"].size() == 8);
  CHECK(json["knob_steps"].size() == facts.knob_steps.size());
  CHECK(part["exchanges"].size() == facts.parts[0].exchanges.size());
  CHECK(part["grid"]["pieces"] == facts.parts[0].grid.pieces);
}

/// Two generations of which only the given shares differ.
std::vector<Generation> made_up(double before, double after, TimeShare share) {
  std::vector<Generation> list(2);
  list[0].family = Family::kFa1;
  list[1].family = Family::kFa2;
  const double seconds[] = {before, after};
  for (std::size_t i = 0; i < 2; ++i) {
    Explanation& facts = list[i].explanation;
    facts = explained(list[i].family);
    facts.shares = {};
    facts.shares[share] = seconds[i];
    facts.shares[TimeShare::kTensor] += 1e-3;
    facts.prediction.seconds = facts.shares.total();
  }
  return list;
}

TEST_CASE("Sentences about generations say what the figures say") {
  const auto text = [](double before, double after, TimeShare share) {
    const auto list = made_up(before, after, share);
    return step_text(list, generation_steps(list).front());
  };
  CHECK_THAT(text(9e-3, 0, TimeShare::kIdle),
             Contains("10.00 times as fast") && Contains("fa1 spends most on SMs without work") &&
                 Contains("fa2 removes that") && Contains("largest then: tensor cores"));
  CHECK_THAT(text(9e-3, 4e-3, TimeShare::kIdle), Contains("fa2 reduces that"));
  CHECK_THAT(text(0.5e-3, 0, TimeShare::kIdle),
             Contains("fa2 removes something else most: SMs without work"));
  CHECK_THAT(text(0, 9e-3, TimeShare::kIdle), Contains("10.00 times as slow") &&
                                                  Contains("removes nothing") &&
                                                  Contains("it pays with SMs without work"));
  CHECK_THAT(text(1e-3, 1e-3, TimeShare::kIdle), Contains("removes nothing"));
  // fa1 and fa2 move about as many bytes through HBM here: less time is no fewer bytes.
  Problem small = prefill();
  small.sizes = {.batch = 4, .heads = 16, .seqlen_q = 256, .seqlen_kv = 256};
  auto list = made_up(9e-3, 0, TimeShare::kHbm);
  for (Generation& each : list) each.explanation.roofline.hbm_bytes = 1e9;
  CHECK_THAT(step_text(list, generation_steps(list).front()), Contains("no longer waits for that"));
}

TEST_CASE("A comparison tells of a family that cannot run") {
  const DeviceLimits& a100 = find_architecture("sm_80");
  const std::vector<Generation> list{best_of_family(prefill(), Family::kFa2, a100),
                                     best_of_family(prefill(), Family::kFa3, a100)};
  const std::string text = generations_text(list, {});
  CHECK_THAT(text, Contains("fa3: not here: family fa3 needs sm_90a") &&
                       Contains("fa2_attention\n    tiles ") && Contains("    blocks ") &&
                       Contains("    warps ") && Contains("    meet at ") &&
                       Contains("    overlap ") && !Contains("what each removes"));
  const auto json = generations_json(list, {});
  CHECK(json["generations"][1]["impossible"].is_string());
  CHECK(json["steps"].empty());
}

}  // namespace
}  // namespace heddle
