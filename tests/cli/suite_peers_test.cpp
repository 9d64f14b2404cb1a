// The file of other people's figures: what is in it, and what is wrong with one that is not right.
#include <catch2/catch.hpp>
#include <set>

#include "cli/suites/peers.hpp"
#include "cli/suites/sweep.hpp"
#include "generator/error.hpp"

namespace heddle {
namespace {

using Catch::Contains;

constexpr const char* kSmall = R"(sources:
  lab: {text: a lab, device: a card, date: 2020-01, method: a clock}
forward:
  - {peer: X, source: lab, dtype: bf16, head_dim: 64, mask: full, tflops: {512: 3, 1024: 4.5}}
decode:
  - {peer: Y, source: lab, cells: [{batch: 2, keys: 4096, gbps: 7}]}
compile:
  - {peer: Z, source: lab, seconds: [1, 2]}
hbm_traffic: []
peak_share: []
ablation: []
fp8_error: []
)";

/// kSmall with one text for another.
std::string with(const std::string& old_text, const std::string& new_text) {
  std::string text = kSmall;
  const auto at = text.find(old_text);
  REQUIRE(at < text.size());
  return text.replace(at, old_text.size(), new_text);
}

std::string complaint(const std::string& text) {
  try {
    parse_peers(text, "small.yaml");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "none";
}

TEST_CASE("a peers file gives figures by problem, and ranges") {
  const Peers peers = parse_peers(kSmall, "small.yaml");
  const Variant variant{.dtype = DataType::kBf16, .head_dim = 64};
  CHECK(peers.forward_tflops("X", "lab", variant, 1024) == 4.5);
  CHECK(peers.forward_tflops("X", "lab", variant, 2048) == std::nullopt);
  CHECK(peers.forward_tflops("X", "shop", variant, 1024) == std::nullopt);
  CHECK(peers.forward_tflops("X", "lab", {.dtype = DataType::kFp16, .head_dim = 64}, 512) ==
        std::nullopt);
  CHECK(peers.decode_gbps("Y", 2, 4096) == 7);
  CHECK(peers.decode_gbps("Y", 1, 4096) == std::nullopt);
  REQUIRE(find_figure(peers.compile_seconds, "Z") != nullptr);
  CHECK(find_figure(peers.compile_seconds, "Z")->least == 1);
  CHECK(find_figure(peers.compile_seconds, "Z")->most == 2);
  CHECK(find_figure(peers.compile_seconds, "W") == nullptr);
  CHECK(peers.cited({"lab"}) ==
        std::vector<std::string>{"lab: a lab; a card; date: 2020-01; a clock"});
}

TEST_CASE("a wrong peers file is told by line, field and value") {
  CHECK_THAT(complaint(with("bf16", "bf17")), Contains("small.yaml:4: dtype: 'bf17'"));
  CHECK_THAT(complaint(with("source: lab, cells", "source: shop, cells")),
             Contains("small.yaml:6: source: 'shop' is not among sources"));
  CHECK_THAT(complaint(with("gbps: 7", "gbps: fast")), Contains("gbps: 'fast'"));
  CHECK_THAT(complaint(with("512: 3", "512: -3")), Contains("tflops: -3 is not above 0"));
  CHECK_THAT(complaint(with("[1, 2]", "[2, 1]")), Contains("small.yaml:8: seconds"));
  CHECK_THAT(complaint(with("date: 2020-01, ", "")), Contains("small.yaml:2: date: is missing"));
  CHECK_THAT(complaint(with("fp8_error: []\n", "")), Contains("fp8_error: is missing"));
  CHECK_THAT(complaint("sources: ["), Contains("small.yaml:"));
  CHECK_THROWS_AS(load_peers("/nowhere/peers.yaml"), Error);
}

TEST_CASE("the file that is built in serves every suite") {
  const Peers peers = load_peers();
  for (const auto& [key, source] : peers.sources) {
    INFO(key);
    CHECK_FALSE(source.text.empty());
    CHECK_FALSE(source.device.empty());
    CHECK_FALSE(source.date.empty());
    CHECK_FALSE(source.method.empty());
  }
  for (const int head_dim : {64, 128}) {
    for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
      for (const int length : kSweepLengths) {
        const Variant bf16{.head_dim = head_dim, .mask = mask};
        const Variant fp8{.dtype = DataType::kE4m3, .head_dim = head_dim, .mask = mask};
        INFO(canonical_text(bf16) << " " << length);
        CHECK(peers.forward_tflops("FA3", "same_run", bf16, length).has_value());
        CHECK(peers.forward_tflops("cuDNN", "same_run", bf16, length).has_value());
        CHECK(peers.forward_tflops("FA3", "fa3_alone", bf16, length).has_value());
        CHECK(peers.forward_tflops("FA3", "fa3_alone", fp8, length).has_value());
        CHECK(peers.forward_tflops("FA2", "torch", bf16, length).has_value());
      }
    }
  }
  // A figure of each table, as peers' own files have it.
  CHECK(peers.forward_tflops("FA3", "same_run", {.head_dim = 128}, 4096) == 721.8);
  CHECK(peers.forward_tflops("FA3", "fa3_alone", {.dtype = DataType::kE4m3, .head_dim = 128},
                             16384) == 994.6);
  CHECK(peers.decode_gbps("FA3 cold L2", 1, 32768) == 2628);
  CHECK(peers.decode_gbps("cuDNN", 64, 4096) == 3903);
  CHECK(find_figure(peers.hbm_gigabytes, "unfused")->most == 40.3);
  CHECK(find_figure(peers.compile_seconds, "FlashAttention-3, nvcc")->least == 76);
}

}  // namespace
}  // namespace heddle
