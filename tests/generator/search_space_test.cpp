// search_space.yaml: what it says is what the tuner tries, and what is wrong in it ends the build.
#include "generator/search_space.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <catch2/catch.hpp>

#include "generator/candidates.hpp"
#include "generator/knobs.hpp"
#include "generator/search_space_reader.hpp"

namespace heddle {
namespace {

using Catch::Contains;

std::string shipped_text() {
  std::stringstream text;
  text << std::ifstream(HEDDLE_SEARCH_SPACE).rdbuf();
  return text.str();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto place = text.find(from);
  REQUIRE(place != std::string::npos);
  return text.replace(place, from.size(), to);
}

TEST_CASE("The library holds the lines of the file") {
  const auto knobs = read_search_space(shipped_text(), "search_space.yaml");
  const auto lines = search_space();
  REQUIRE(lines.size() == knobs.size());
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    CHECK(lines[i].family == knobs[i].family);
    CHECK(lines[i].knob == knobs[i].knob);
    CHECK(lines[i].is_switch == knobs[i].is_switch);
    CHECK(lines[i].dtypes == knobs[i].dtypes);
    CHECK(lines[i].masks == knobs[i].masks);
    CHECK(lines[i].values == knobs[i].values);
  }
}

bool listed(const SearchSpaceLine& line, std::string_view value) {
  const std::string values = "," + std::string(line.values) + ",";
  return values.find("," + std::string(value) + ",") != std::string::npos;
}

TEST_CASE("Candidates have the values of the file, and every knob of a family has a line or none") {
  const DeviceLimits& limits = find_architecture("sm_90a");
  std::set<std::string> met;  // family.knob=value
  for (const DataType dtype : {DataType::kBf16, DataType::kE4m3}) {
    for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
      const Variant variant{.dtype = dtype, .head_dim = 64, .mask = mask};
      for (const KernelConfig& config : enumerate_candidates(variant, limits)) {
        for_each_field(config, [&](const auto& knob, const auto& value) {
          met.insert(std::string(enum_name(config.family)) + "." + std::string(knob.name) + "=" +
                     value_text(value));
        });
      }
    }
  }
  const KernelConfig neutral;
  for (const std::string& text : met) {
    const auto dot = text.find('.'), equals = text.find('=');
    const std::string family = text.substr(0, dot), value = text.substr(equals + 1);
    const std::string knob = text.substr(dot + 1, equals - dot - 1);
    if (knob == "family") continue;
    bool in_file = false;
    for (const SearchSpaceLine& line : search_space()) {
      in_file |= line.family == family && line.knob == knob && listed(line, value);
    }
    for_each_field(neutral, [&](const auto& entry, const auto& usual) {
      in_file |= entry.name == knob && value == value_text(usual);  // fixed, or without effect here
    });
    INFO(text);
    CHECK(in_file);
  }
  // No value of the file is out of reach: legal with something, on this device.
  for (const SearchSpaceLine& line : search_space()) {
    std::stringstream values{std::string(line.values)};
    for (std::string value; std::getline(values, value, ',');) {
      const std::string text =
          std::string(line.family) + "." + std::string(line.knob) + "=" + value;
      INFO(text);
      CHECK(met.count(text) == 1);
    }
  }
}

struct Case {
  std::string from, to;  ///< in the shipped file
  std::string where;     ///< family.knob, as the message has it
  std::string what;      ///< what else it says
};

TEST_CASE("What is wrong in the file is told with line, knob, value and remedy") {
  const auto wrong = GENERATE(values<Case>(
      {{"tile_m: [64, 128]", "tile_q: [64, 128]", "unfused.tile_q", "its knobs: tile_m,tile_n"},
       {"tile_m: [64, 128]", "split_kv: [false]", "unfused.split_kv", "no knob of this family"},
       {"tile_m: [64, 128]", "tile_m: [64, wide]", "unfused.tile_m",
        "'wide' is not a whole number"},
       {"tile_m: [64, 128]", "tile_m: [64, 64]", "unfused.tile_m", "'64' is given twice"},
       {"tile_m: [64, 128]", "tile_m: []", "unfused.tile_m", "give one or more"},
       {"      tile_m: [64, 128]\n", "", "unfused.tile_m", "is not mentioned"},
       {"[lazy, every_block]", "[lazy, never]", "fa2.running_max", "'never' is not one of"},
       {"      split_kv: [false, true]\n", "      warps: [4]\n", "fa2.warps", "is given twice"},
       {"fixed: [overlap, ", "fixed: [", "fa3.overlap", "is not mentioned"},
       {"fixed: [overlap, ", "fixed: [overlop, ", "fa3.overlop", "no knob of this family"},
       {"fixed: [overlap, ", "fixed: [tile_m, overlap, ", "fa3.tile_m", "is given twice"},
       {"mask: full", "mask: round", "mask", "'round' is not one of: full, causal"},
       {"mask: full", "moon: full", "fa3.scheduler", "unknown condition 'moon'"},
       {"{mask: full, values: [tile_per_block, static]}", "{mask: full}", "fa3.scheduler",
        "has no values"},
       {"family: fa1", "family: fa9", "family", "'fa9'"},
       {"family: fa1", "family: unfused", "family", "'unfused' is given twice"},
       {"    switches:", "    switch:", "switch", "known ones: family, tiles, switches, fixed"},
       {"heddle_search_space: 1", "heddle_search_space: 2", "heddle_search_space", "'2'"},
       {"heddle_search_space: 1\n", "", "heddle_search_space", "begin with"},
       {"tile_m: [64, 128]", "tile_m: [64", "search_space.yaml:", "correct the YAML"}}));
  const std::string text = replaced(shipped_text(), wrong.from, wrong.to);
  INFO(wrong.from << " -> " << wrong.to);
  try {
    read_search_space(text, "search_space.yaml");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kInvalidArgument);
    CHECK_THAT(error.what(),
               Contains("search_space.yaml:") && Contains(wrong.where) && Contains(wrong.what));
  }
}

TEST_CASE("The line of the message is the line of the knob") {
  const std::string text = replaced(shipped_text(), "query_stages: [1, 2]", "query_stages: [one]");
  const auto place = text.find("query_stages: [one]");
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n');
  CHECK_THROWS_WITH(read_search_space(text, "a.yaml"),
                    Contains("a.yaml:" + std::to_string(line) + ": fa3.query_stages"));
}

TEST_CASE("The build stops at a wrong file") {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("heddle search space " + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string wrong = (folder / "wrong.yaml").string(), out = (folder / "out.cpp").string();
  const auto run = [&](const std::string& file) {
    const std::string command = "'" HEDDLE_SEARCH_SPACE_TOOL "' '" + file + "' '" + out + "' 2> '" +
                                (folder / "errors").string() + "'";
    return std::system(command.c_str());
  };
  std::ofstream(wrong) << replaced(shipped_text(), "stages: [2, 3, 4]", "stages: [2, 3, four]");
  CHECK(run(wrong) != 0);
  std::stringstream errors;
  errors << std::ifstream(folder / "errors").rdbuf();
  CHECK_THAT(errors.str(), Contains("wrong.yaml:") && Contains("fa3.stages") && Contains("'four'"));
  CHECK_FALSE(std::filesystem::exists(out));
  CHECK(run((folder / "nowhere.yaml").string()) != 0);
  CHECK(run(HEDDLE_SEARCH_SPACE) == 0);
  CHECK(std::filesystem::file_size(out) > 0);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace heddle
