#include "generator/problem.hpp"

#include <cmath>
#include <limits>
#include <set>

#include "tests/generator/rejection_matcher.hpp"

namespace heddle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class Change>
std::optional<Rejection> reject_changed(Change change) {
  Problem problem;
  problem.sizes = {.batch = 2, .heads = 8, .kv_heads = 2, .seqlen_q = 128, .seqlen_kv = 256};
  change(problem);
  return reject_problem(problem);
}

template <class Change>
std::optional<Rejection> reject_changed_variant(Change change) {
  return reject_changed([&](Problem& problem) { change(problem.variant); });
}

TEST_CASE("An ordinary problem is accepted") {
  CHECK_FALSE(reject_changed([](Problem&) {}).has_value());
}

TEST_CASE("C31 head_dim: every multiple of 8 up to 256, nothing else") {
  for (int head_dim = -8; head_dim <= 300; ++head_dim) {
    Variant variant;
    variant.head_dim = head_dim;
    const bool legal = head_dim > 0 && head_dim <= 256 && head_dim % 8 == 0;
    INFO("head_dim " << head_dim);
    if (legal) CHECK_FALSE(reject_variant(variant).has_value());
    if (!legal) check_invalid(reject_variant(variant), "head_dim", std::to_string(head_dim));
  }
}

TEST_CASE("C31 a head_dim of 100 is told its remedy") {
  Variant variant;
  variant.head_dim = 100;
  CHECK(reject_variant(variant)->reason ==
        "head_dim: 100 is not a multiple of 8; pad Q, K and V to 104");
}

TEST_CASE("C82 heads that do not divide, negative counts") {
  const auto with_heads = [](int heads, int kv_heads) {
    return reject_changed([&](Problem& problem) {
      problem.sizes.heads = heads;
      problem.sizes.kv_heads = kv_heads;
    });
  };
  check_invalid(with_heads(6, 4), "kv_heads", "4");
  check_invalid(with_heads(4, 8), "kv_heads", "8");
  check_invalid(with_heads(0, 4), "kv_heads", "4");
  CHECK_FALSE(with_heads(6, 0).has_value());  // 0 = as many as heads
  CHECK_FALSE(with_heads(7, 1).has_value());

  int Sizes::*const counts[] = {&Sizes::batch, &Sizes::heads, &Sizes::kv_heads, &Sizes::seqlen_q,
                                &Sizes::seqlen_kv};
  const char* const names[] = {"batch", "heads", "kv_heads", "seqlen_q", "seqlen_kv"};
  for (int i = 0; i < 5; ++i) {
    const auto rejection = reject_changed([&](Problem& problem) { problem.sizes.*counts[i] = -3; });
    check_invalid(rejection, names[i], "-3");
  }
}

TEST_CASE("C83 empty problems are valid, as is a problem without keys") {
  int Sizes::*const counts[] = {&Sizes::batch, &Sizes::seqlen_q, &Sizes::seqlen_kv};
  for (const auto count : counts) {
    CHECK_FALSE(reject_changed([&](Problem& problem) { problem.sizes.*count = 0; }).has_value());
  }
  CHECK_FALSE(reject_changed([](Problem& problem) {
                problem.sizes.heads = problem.sizes.kv_heads = 0;
              }).has_value());
  CHECK(is_empty({.batch = 0}));
  CHECK(is_empty({.heads = 0}));
  CHECK(is_empty({.seqlen_q = 0}));
  CHECK_FALSE(is_empty({.seqlen_kv = 0}));  // its output has to be written
}

TEST_CASE("scale must be a positive normal number in fp32, also times log2(e)") {
  const auto with_scale = [](double scale) {
    return reject_changed([&](Problem& problem) { problem.sizes.scale = scale; });
  };
  for (const double scale : {0.0, 1e-37, 0.125, 1.0, 2e38}) {
    INFO(scale);
    CHECK_FALSE(with_scale(scale).has_value());
  }
  check_invalid(with_scale(-0.5), "scale", "-0.5");
  check_invalid(with_scale(kInfinity), "scale", "inf");
  check_invalid(with_scale(std::nan("")), "scale", "nan");
  check_invalid(with_scale(3e38), "scale", "3e+38");  // finite in fp32, but not times log2(e)
  check_invalid(with_scale(1e-39), "scale", "1e-39");
}

TEST_CASE("num_splits from 0 to 1024") {
  const auto with_splits = [](int num_splits) {
    return reject_changed([&](Problem& problem) { problem.sizes.num_splits = num_splits; });
  };
  CHECK_FALSE(with_splits(1024).has_value());
  check_invalid(with_splits(-1), "num_splits", "-1");
  check_invalid(with_splits(1025), "num_splits", "1025");
}

TEST_CASE("C32 alignment is 16, 8, 4 or 2") {
  for (int alignment = -1; alignment <= 33; ++alignment) {
    Variant variant;
    variant.alignment = alignment;
    const std::set<int> legal{2, 4, 8, 16};
    INFO(alignment);
    if (legal.contains(alignment)) CHECK_FALSE(reject_variant(variant).has_value());
    if (!legal.contains(alignment)) {
      check_invalid(reject_variant(variant), "alignment", std::to_string(alignment));
    }
  }
}

TEST_CASE("C50 windows: -1 is none, other negatives are errors, bounds are unsupported") {
  for (const auto& [field, member] : {std::pair{"window_left", &Variant::window_left},
                                      std::pair{"window_right", &Variant::window_right}}) {
    const auto with_window = [&](int window) {
      return reject_changed_variant([&](Variant& variant) { variant.*member = window; });
    };
    CHECK_FALSE(with_window(-1).has_value());
    check_invalid(with_window(-2), field, "-2");
    check_unsupported(with_window(0), field, "0");
    check_unsupported(with_window(4096), field, "4096");
  }
}

TEST_CASE("C67 C76 C77 C81 every feature of later is refused by name") {
  check_unsupported(reject_changed_variant([](auto& v) { v.softcap = 30; }), "softcap", "30");
  check_unsupported(reject_changed_variant([](auto& v) { v.bias = true; }), "bias", "true");
  check_unsupported(reject_changed_variant([](auto& v) { v.alibi = true; }), "alibi", "true");
  check_unsupported(reject_changed_variant([](auto& v) { v.sinks = true; }), "sinks", "true");
  check_unsupported(reject_changed_variant([](auto& v) { v.score_snippet = "s + 1"; }),
                    "score_snippet", "s + 1");
  check_unsupported(reject_changed_variant([](auto& v) { v.mask_snippet = "q > k"; }),
                    "mask_snippet", "q > k");
  check_unsupported(reject_changed_variant([](auto& v) { v.direction = Direction::kBackward; }),
                    "direction", "backward");
  check_unsupported(reject_changed_variant([](auto& v) { v.lengths = LengthKind::kCuSeqlens; }),
                    "lengths", "cu_seqlens");
  check_unsupported(reject_changed_variant([](auto& v) { v.lengths = LengthKind::kSeqused; }),
                    "lengths", "seqused");
  check_unsupported(reject_changed_variant([](auto& v) { v.paged_kv = true; }), "paged_kv", "true");
  check_unsupported(reject_changed_variant([](auto& v) { v.batch_invariant = true; }),
                    "batch_invariant", "true");
  check_unsupported(reject_changed_variant([](auto& v) { v.head_dim_v = 64; }), "head_dim_v", "64");
}

TEST_CASE("e4m3 inputs: head_dim in steps of 32, O in 16 bits; what is theirs is nobody else's") {
  const auto e4m3 = [](const auto& change) {
    return reject_changed_variant([&](Variant& variant) {
      variant.dtype = DataType::kE4m3;
      change(variant);
    });
  };
  CHECK_FALSE(e4m3([](auto& v) { v.scales = ScaleKind::kToken; }).has_value());
  CHECK_FALSE(e4m3([](auto& v) { v.output_dtype = DataType::kFp16; }).has_value());
  CHECK_FALSE(e4m3([](auto& v) { v.value_layout = ValueLayout::kTransposed; }).has_value());
  check_invalid(e4m3([](auto& v) { v.output_dtype = DataType::kE4m3; }), "output_dtype", "e4m3");
  check_invalid(e4m3([](auto& v) { v.head_dim = 80; }), "head_dim", "80");
  check_invalid(reject_changed_variant([](auto& v) { v.output_dtype = DataType::kFp16; }),
                "output_dtype", "fp16");
  check_invalid(reject_changed_variant([](auto& v) { v.scales = ScaleKind::kBlock; }), "scales",
                "block");
  check_invalid(reject_changed_variant([](auto& v) { v.value_layout = ValueLayout::kTransposed; }),
                "value_layout", "transposed");
}

TEST_CASE("Every field of Variant is known to the checks") {
  // A field that is added later must be refused or honoured on purpose: then adapt this count.
  int fields = 0;
  for_each_field(Variant{}, [&](const auto&, const auto&) { ++fields; });
  CHECK(fields == 20);
}

TEST_CASE("C76 C81 values that no later version could honour are errors, neutral ones are not") {
  check_invalid(reject_changed_variant([](auto& v) { v.softcap = -1; }), "softcap", "-1");
  check_invalid(reject_changed_variant([](auto& v) { v.softcap = kInfinity; }), "softcap", "inf");
  check_invalid(reject_changed_variant([](auto& v) { v.head_dim_v = -8; }), "head_dim_v", "-8");
  CHECK_FALSE(reject_changed_variant([](auto& v) { v.head_dim_v = v.head_dim; }).has_value());
}

TEST_CASE("require throws the code of the rejection") {
  const auto code_of = [](const Rejection& rejection) {
    try {
      require(rejection);
    } catch (const Error& error) {
      CHECK(error.field() == rejection.field);
      CHECK(error.what() == rejection.reason);
      return error.code();
    }
    return ErrorCode::kInternal;
  };
  CHECK(code_of({"bias", "unsupported: bias", true}) == ErrorCode::kUnsupported);
  CHECK(code_of({"batch", "batch: -1", false}) == ErrorCode::kInvalidArgument);
  CHECK_NOTHROW(require(std::nullopt));
}

TEST_CASE("Visible pairs are counted exactly") {
  for (int seqlen_q = 1; seqlen_q <= 9; ++seqlen_q) {
    for (int seqlen_kv = 0; seqlen_kv <= 9; ++seqlen_kv) {
      int causal_pairs = 0;
      for (int i = 0; i < seqlen_q; ++i) {
        for (int j = 0; j < seqlen_kv; ++j) causal_pairs += j <= i + seqlen_kv - seqlen_q;
      }
      Problem problem;
      problem.sizes = {.batch = 2, .heads = 3, .seqlen_q = seqlen_q, .seqlen_kv = seqlen_kv};
      const double per_pair = 4.0 * 2 * 3 * problem.variant.head_dim;
      INFO(seqlen_q << " x " << seqlen_kv);
      CHECK(flop_count(problem) == per_pair * seqlen_q * seqlen_kv);
      problem.variant.mask = MaskKind::kCausal;
      CHECK(flop_count(problem) == per_pair * causal_pairs);
    }
  }
}

TEST_CASE("Bytes and scale of a problem") {
  Problem problem;
  problem.variant.head_dim = 64;
  problem.sizes = {.batch = 2, .heads = 8, .kv_heads = 2, .seqlen_q = 10, .seqlen_kv = 100};
  CHECK(minimal_bytes(problem) == 2.0 * 64 * 2 * (2 * 8 * 10 + 2 * 2 * 100));
  CHECK(resolved_scale(problem.variant, problem.sizes) == 0.125);
  problem.sizes.scale = 0.25;
  CHECK(resolved_scale(problem.variant, problem.sizes) == 0.25);
  problem.sizes.batch = 0;
  CHECK(minimal_bytes(problem) == 0);
  CHECK(flop_count(problem) == 0);
}

TEST_CASE("A new field with a neutral default changes no old key") {
  CHECK(canonical_text(Variant{}).empty());
  Variant variant;
  variant.mask = MaskKind::kCausal;
  variant.head_dim = 64;
  CHECK(canonical_text(variant) == "head_dim=64,mask=causal");
  CHECK(parse_canonical<Variant>(canonical_text(variant)) == variant);
}

}  // namespace
}  // namespace heddle
