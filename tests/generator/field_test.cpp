#include "generator/field.hpp"

#include <catch2/catch.hpp>

#include "generator/kernel_config.hpp"
#include "generator/problem.hpp"

namespace heddle {
namespace {

struct Sample {
  int count = 3;
  bool on = false;
  double ratio = 0.5;
  std::string note;
  MaskKind mask = MaskKind::kFull;

  static constexpr auto fields() {
    return std::make_tuple(field("count", &Sample::count, ""), field("on", &Sample::on, ""),
                           field("ratio", &Sample::ratio, ""), field("note", &Sample::note, ""),
                           field("mask", &Sample::mask, ""));
  }
  friend bool operator==(const Sample& a, const Sample& b) { return fields_equal(a, b); }
};

std::string error_of(const char* name, const char* value) {
  Sample sample;
  try {
    set_field(sample, name, value);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kInvalidArgument);
    CHECK(error.field() == name);
    CHECK(sample == Sample{});
    return error.what();
  }
  return "accepted";
}

TEST_CASE("Canonical text leaves defaults out and keeps the list's order") {
  Sample sample;
  CHECK(canonical_text(sample).empty());
  sample.mask = MaskKind::kCausal;
  sample.count = -7;
  sample.ratio = 0.1;
  CHECK(canonical_text(sample) == "count=-7,ratio=0.1,mask=causal");
  CHECK(full_text(Sample{}) == "count=3, on=false, ratio=0.5, note=, mask=full");
}

TEST_CASE("Text that looks like structure survives the round trip") {
  for (const char* note : {"a,b=c", "100%", "two\nlines", "\x01\x1f", "%2c", "ü, π"}) {
    Sample sample;
    sample.note = note;
    const std::string text = canonical_text(sample);
    INFO(text);
    CHECK(text.find('\n') == std::string::npos);
    CHECK(parse_canonical<Sample>(text) == sample);
  }
}

TEST_CASE("Doubles read back to the same bits") {
  for (const double ratio : {0.1, 1.0 / 3, 1e-300, 0.08838834764831845, -2.5e17}) {
    Sample sample;
    sample.ratio = ratio;
    CHECK(parse_canonical<Sample>(canonical_text(sample)).ratio == ratio);
  }
}

TEST_CASE("Wrong values name field, value and choices, and change nothing") {
  CHECK_THAT(error_of("mask", "banded"), Catch::Contains("mask") && Catch::Contains("'banded'") &&
                                             Catch::Contains("full, causal"));
  CHECK_THAT(error_of("count", "4.5"), Catch::Contains("'4.5'") && Catch::Contains("whole number"));
  CHECK_THAT(error_of("count", "99999999999"), Catch::Contains("'99999999999'"));
  CHECK_THAT(error_of("count", ""), Catch::Contains("count"));
  CHECK_THAT(error_of("on", "maybe"), Catch::Contains("true or false"));
  CHECK_THAT(error_of("ratio", "nan"), Catch::Contains("'nan'"));
  CHECK_THAT(error_of("note", "%2"), Catch::Contains("note"));
  CHECK_THAT(error_of("colour", "red"),
             Catch::Contains("'colour'") && Catch::Contains("count, on, ratio, note, mask"));
}

TEST_CASE("An entry without '=' is refused") {
  CHECK_THROWS_AS(parse_canonical<Sample>("count=1,on"), Error);
  CHECK(parse_canonical<Sample>("") == Sample{});
}

TEST_CASE("Structures of the product have distinct field names and round-trip") {
  KernelConfig config;
  config.family = Family::kUnfused;
  config.tile_n = 128;
  config.longest_first = false;
  CHECK(parse_canonical<KernelConfig>(canonical_text(config)) == config);
  Sizes sizes;
  sizes.scale = 0.3;
  sizes.kv_heads = 4;
  sizes.heads = 8;
  CHECK(parse_canonical<Sizes>(canonical_text(sizes)) == sizes);
}

}  // namespace
}  // namespace heddle
