#include "generator/hash.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "generator/kernel_config.hpp"
#include "generator/problem.hpp"

namespace heddle {
namespace {

TEST_CASE("XXH3-128 of known texts: keys in old databases stay valid") {
  // Published test vectors of XXH3_128bits with seed 0.
  CHECK(hash_text("").hex() == "99aa06d3014798d86001c324468d497f");
  CHECK(hash_text("a").hex() == "a96faf705af16834e6c632b61e964e1f");
  CHECK(hash_text("abc").hex() == "06b05ab6733a618578af5f94892f3950");
}

TEST_CASE("Hexadecimal text is 32 digits, most significant first") {
  CHECK(Hash128{0x0123456789abcdef, 0xfedcba9876543210}.hex() ==
        "0123456789abcdeffedcba9876543210");
  CHECK(Hash128{0, 1}.hex() == "00000000000000000000000000000001");
}

TEST_CASE("Every field takes part in the identity") {
  std::set<std::string> seen{canonical_hash(Variant{}).hex()};
  const auto add = [&](auto change) {
    Variant variant;
    change(variant);
    CHECK(seen.insert(canonical_hash(variant).hex()).second);
  };
  add([](Variant& v) { v.dtype = DataType::kFp16; });
  add([](Variant& v) { v.head_dim = 64; });
  add([](Variant& v) { v.mask = MaskKind::kCausal; });
  add([](Variant& v) { v.alignment = 8; });
  add([](Variant& v) { v.head_dim_v = 64; });
  add([](Variant& v) { v.window_left = 64; });
  add([](Variant& v) { v.window_right = 64; });
  add([](Variant& v) { v.score_snippet = "a"; });
  add([](Variant& v) { v.mask_snippet = "a"; });
}

TEST_CASE("Hashing depends on the bytes alone") {
  const std::string text = canonical_text(KernelConfig{.tile_m = 128});
  const std::string copy = "x" + text;  // another address and alignment
  CHECK(hash_text(text) == hash_text(std::string_view(copy).substr(1)));
  CHECK(canonical_hash(KernelConfig{.tile_m = 128}) == hash_text("tile_m=128"));
}

}  // namespace
}  // namespace heddle
