#include "runtime/testing/reference.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/testing/element.hpp"
#include "runtime/testing/inputs.hpp"
#include "tests/testing/naive.hpp"

using namespace heddle;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Problem make_problem(DataType dtype, int head_dim, MaskKind mask, const Sizes& sizes) {
  Problem problem;
  problem.variant = {.dtype = dtype, .head_dim = head_dim, .mask = mask};
  problem.sizes = sizes;
  return problem;
}

void check_against_naive(const Problem& problem, const HostTensors& tensors, double tolerance,
                         ReferenceMode mode) {
  const AttentionResult naive = naive_attention(problem, tensors);
  const AttentionResult result = reference_attention(problem, tensors, mode);
  REQUIRE(result.output.size() == naive.output.size());
  REQUIRE(result.log_sum_exp.size() == naive.log_sum_exp.size());
  int wrong = 0;
  for (std::size_t i = 0; i < naive.output.size(); ++i) {
    wrong += !close(result.output[i], naive.output[i], tolerance);
  }
  for (std::size_t i = 0; i < naive.log_sum_exp.size(); ++i) {
    wrong += !close(result.log_sum_exp[i], naive.log_sum_exp[i], tolerance);
  }
  CHECK(wrong == 0);
}

/// One query, three keys, all logits 0; V = 1, 0, 0 in column 0.
HostTensors one_third(DataType dtype) {
  HostTensors tensors{std::vector<std::uint16_t>(8), std::vector<std::uint16_t>(24),
                      std::vector<std::uint16_t>(24)};
  tensors.value[0] = element_from_float(dtype, 1);
  return tensors;
}

}  // namespace

TEST_CASE("the float64 reference agrees with a double loop over queries and keys") {
  const auto dtype = GENERATE(DataType::kFp16, DataType::kBf16);
  const auto mask = GENERATE(MaskKind::kFull, MaskKind::kCausal);
  const auto kind = GENERATE(InputKind::kNormal, InputKind::kLargeLogits, InputKind::kOneHot,
                             InputKind::kRising, InputKind::kOneHeavy);
  for (const Sizes& sizes :
       {Sizes{.batch = 2, .heads = 6, .kv_heads = 2, .seqlen_q = 67, .seqlen_kv = 130},
        Sizes{.heads = 3, .kv_heads = 1, .seqlen_q = 1, .seqlen_kv = 65},
        Sizes{.heads = 1, .seqlen_q = 70, .seqlen_kv = 33}}) {
    const Problem problem = make_problem(dtype, 40, mask, sizes);
    const HostTensors tensors = make_inputs(problem, kind, 3);
    INFO(canonical_text(problem.variant) << " " << canonical_text(sizes));
    check_against_naive(problem, tensors, 1e-12, ReferenceMode::kFloat64);
  }
}

TEST_CASE("the baseline differs from it by the rounding of P and O") {
  const auto mask = GENERATE(MaskKind::kFull, MaskKind::kCausal);
  const Sizes sizes{.heads = 2, .seqlen_q = 67, .seqlen_kv = 130};
  const Problem half = make_problem(DataType::kFp16, 64, mask, sizes);
  check_against_naive(half, make_inputs(half, InputKind::kNormal, 3), 3e-3,
                      ReferenceMode::kBaseline);
  const Problem brain = make_problem(DataType::kBf16, 64, mask, sizes);
  check_against_naive(brain, make_inputs(brain, InputKind::kNormal, 3), 2e-2,
                      ReferenceMode::kBaseline);
}

TEST_CASE("the baseline rounds P, normalised, and O") {
  const Problem problem =
      make_problem(DataType::kBf16, 8, MaskKind::kFull, {.seqlen_q = 1, .seqlen_kv = 3});
  HostTensors tensors = one_third(DataType::kBf16);
  const auto baseline = reference_attention(problem, tensors, ReferenceMode::kBaseline);
  CHECK(baseline.output[0] == 0.333984375);  // 1/3 in bf16
  const auto exact = reference_attention(problem, tensors, ReferenceMode::kFloat64);
  CHECK(exact.output[0] == Approx(1.0 / 3).epsilon(1e-15));

  // P = 1/3 three times adds up to 1.001953125, for which bf16 has only 1.
  for (const int row : {1, 2}) tensors.value[row * 8] = tensors.value[0];
  CHECK(reference_attention(problem, tensors, ReferenceMode::kBaseline).output[0] == 1.0);
}

TEST_CASE("the last row of a causal problem with one key is that key's value (C03)") {
  Problem problem = make_problem(DataType::kBf16, 64, MaskKind::kCausal,
                                 {.seqlen_q = 3, .seqlen_kv = 1, .scale = 0.125});
  const HostTensors tensors = make_inputs(problem, InputKind::kNormal, 5);
  double dot = 0;
  for (int c = 0; c < 64; ++c) {
    dot += static_cast<double>(bf16_to_float(tensors.query[2 * 64 + c])) *
           static_cast<double>(bf16_to_float(tensors.key[c]));
  }
  for (const auto mode : {ReferenceMode::kFloat64, ReferenceMode::kBaseline}) {
    const AttentionResult result = reference_attention(problem, tensors, mode);
    CHECK(result.log_sum_exp[0] == -kInfinity);
    CHECK(result.log_sum_exp[1] == -kInfinity);
    CHECK(result.log_sum_exp[2] == Approx(0.125 * dot).epsilon(1e-5));
    CHECK(result.largest_logit[2] == Approx(std::abs(0.125 * dot)).epsilon(1e-5));
    for (int c = 0; c < 64; ++c) {
      CHECK(result.output[c] == 0);
      CHECK(result.output[2 * 64 + c] == static_cast<double>(bf16_to_float(tensors.value[c])));
    }
  }
}

TEST_CASE("largest_logit is the largest magnitude, signs aside, of visible finite logits") {
  const Problem problem = make_problem(DataType::kFp16, 8, MaskKind::kCausal,
                                       {.seqlen_q = 2, .seqlen_kv = 3, .scale = 1});
  HostTensors tensors = one_third(DataType::kFp16);
  tensors.query.resize(16);
  for (const int row : {0, 1}) tensors.query[row * 8] = element_from_float(DataType::kFp16, 1);
  const float keys[] = {2, -5, 7};
  for (int key = 0; key < 3; ++key) {
    tensors.key[key * 8] = element_from_float(DataType::kFp16, keys[key]);
  }
  const auto result = reference_attention(problem, tensors, ReferenceMode::kFloat64);
  CHECK(result.largest_logit == std::vector<double>{5, 7});
}

TEST_CASE("a long row needs no quadratic memory and stays right (C47)") {
  const Problem problem =
      make_problem(DataType::kBf16, 8, MaskKind::kCausal, {.seqlen_q = 3, .seqlen_kv = 100'003});
  check_against_naive(problem, make_inputs(problem, InputKind::kNormal, 9), 1e-11,
                      ReferenceMode::kFloat64);
}

TEST_CASE("an empty problem has an empty result") {
  for (const Sizes& sizes : {Sizes{.batch = 0}, Sizes{.heads = 0}, Sizes{.seqlen_q = 0}}) {
    const Problem problem = make_problem(DataType::kBf16, 64, MaskKind::kFull, sizes);
    CHECK(reference_attention(problem, {}, ReferenceMode::kFloat64).output.empty());
  }
}

TEST_CASE("what the reference cannot compute it refuses by name") {
  const auto field_of = [](const Problem& problem, const HostTensors& tensors) -> std::string {
    try {
      reference_attention(problem, tensors, ReferenceMode::kFloat64);
    } catch (const Error& error) {
      return error.field();
    }
    return "accepted";
  };
  Problem problem =
      make_problem(DataType::kBf16, 64, MaskKind::kFull, {.seqlen_q = 2, .seqlen_kv = 2});
  HostTensors tensors = make_inputs(problem, InputKind::kNormal, 1);
  CHECK(field_of(problem, tensors) == "accepted");
  tensors.value.pop_back();
  CHECK(field_of(problem, tensors) == "value");
  problem.variant.softcap = 30;
  CHECK(field_of(problem, tensors) == "softcap");
  problem.variant.softcap = 0;
  problem.variant.window_left = 1;
  CHECK(field_of(problem, tensors) == "window_left");
}
