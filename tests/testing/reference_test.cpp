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

TEST_CASE("the float64 reference of e4m3 agrees with a double loop, wherever scales and V lie") {
  const auto mask = GENERATE(MaskKind::kFull, MaskKind::kCausal);
  const auto scales =
      GENERATE(ScaleKind::kTensor, ScaleKind::kHead, ScaleKind::kBlock, ScaleKind::kToken);
  const auto layout = GENERATE(ValueLayout::kRows, ValueLayout::kTransposed);
  const auto kind = GENERATE(InputKind::kNormal, InputKind::kExact);
  for (const Sizes& sizes :
       {Sizes{.batch = 2, .heads = 2, .kv_heads = 1, .seqlen_q = 130, .seqlen_kv = 150},
        Sizes{.heads = 4, .kv_heads = 2, .seqlen_q = 1, .seqlen_kv = 65},
        Sizes{.heads = 1, .seqlen_q = 70, .seqlen_kv = 33}}) {
    Problem problem = make_problem(DataType::kE4m3, 32, mask, sizes);
    problem.variant.scales = scales;
    problem.variant.value_layout = layout;
    HostTensors tensors = make_inputs(problem, kind, 3);
    const float numbers[] = {0.25f, -2, 1};
    for (int i = 0; i < sizes.batch * sizes.resolved_kv_heads() * 32; ++i) {
      tensors.scales.value_mean.push_back(numbers[i % 3]);
    }
    for (int i = 0; i < sizes.batch * sizes.heads * sizes.seqlen_q; ++i) {
      tensors.scales.log_sum_exp_shift.push_back(numbers[i % 3] * 3);
    }
    INFO(canonical_text(problem.variant) << " " << canonical_text(sizes));
    check_against_naive(problem, tensors, 1e-12, ReferenceMode::kFloat64);
    check_against_naive(problem, tensors, 0.3, ReferenceMode::kBaseline);
  }
}

TEST_CASE("e4m3's baseline rounds 16 p, and divides by the sum of p before that") {
  Problem problem =
      make_problem(DataType::kE4m3, 32, MaskKind::kFull, {.seqlen_q = 1, .seqlen_kv = 2});
  problem.sizes.scale = 1;
  HostTensors tensors{std::vector<std::uint16_t>(32), std::vector<std::uint16_t>(64),
                      std::vector<std::uint16_t>(64)};
  tensors.query[0] = e4m3_from_float(1);
  tensors.key[32] = e4m3_from_float(-0.375f);
  tensors.value[32] = e4m3_from_float(1);
  const double p = std::exp(-0.375);  // 16 p = 10.997, which lies between 10 and 11
  const double rounded = 11.0 / 16;
  const auto result = reference_attention(problem, tensors, ReferenceMode::kBaseline);
  CHECK(result.output[0] ==
        static_cast<double>(bf16_to_float(bf16_from_float(static_cast<float>(rounded / (1 + p))))));
  CHECK(result.log_sum_exp[0] == Approx(std::log(1 + p)).epsilon(1e-6));
  CHECK(result.output[0] != Approx(p / (1 + p)).epsilon(1e-6));
  problem.variant.output_dtype = DataType::kFp16;
  CHECK(reference_attention(problem, tensors, ReferenceMode::kBaseline).output[0] ==
        static_cast<double>(fp16_to_float(fp16_from_float(static_cast<float>(rounded / (1 + p))))));
}

TEST_CASE("exact inputs leave e4m3's baseline nothing but the rounding of O") {
  const auto layout = GENERATE(ValueLayout::kRows, ValueLayout::kTransposed);
  Problem problem = make_problem(DataType::kE4m3, 64, MaskKind::kCausal,
                                 {.heads = 2, .seqlen_q = 150, .seqlen_kv = 170});
  problem.variant.scales = ScaleKind::kToken;
  problem.variant.value_layout = layout;
  HostTensors tensors = make_inputs(problem, InputKind::kExact, 5);
  const auto exact = reference_attention(problem, tensors, ReferenceMode::kFloat64);
  const auto baseline = reference_attention(problem, tensors, ReferenceMode::kBaseline);
  double worst = 0;
  for (std::size_t i = 0; i < exact.output.size(); ++i) {
    const double error = std::abs(baseline.output[i] - exact.output[i]);
    worst = std::max(worst, error / std::max(std::abs(exact.output[i]), 1e-2));
  }
  CHECK(worst < 0x1p-8);  // bf16
  CHECK(worst > 0x1p-10);
  // Two keys in each other's place show far above that.
  std::swap(tensors.value[64 * 3], tensors.value[64 * 3 + (layout == ValueLayout::kRows ? 64 : 1)]);
  const auto swapped = reference_attention(problem, tensors, ReferenceMode::kFloat64);
  double shown = 0;
  for (std::size_t i = 0; i < exact.output.size(); ++i) {
    shown = std::max(shown, std::abs(swapped.output[i] - exact.output[i]));
  }
  CHECK(shown > 0.02);
}

TEST_CASE(
    "cut_error is what products of both signs lose, by the weights of the keys that a row sees") {
  Problem problem = make_problem(DataType::kE4m3, 32, MaskKind::kCausal,
                                 {.seqlen_q = 2, .seqlen_kv = 3, .scale = 0.5});
  HostTensors tensors{std::vector<std::uint16_t>(64), std::vector<std::uint16_t>(96),
                      std::vector<std::uint16_t>(96)};
  for (const int row : {0, 1}) {
    tensors.query[row * 32] = e4m3_from_float(1);
    tensors.query[row * 32 + 1] = e4m3_from_float(-2);
  }
  const float keys[] = {2, -5, 7};
  for (int key = 0; key < 3; ++key) {
    tensors.key[key * 32] = tensors.key[key * 32 + 1] = e4m3_from_float(keys[key]);
  }
  tensors.scales.query_descale = {4};
  tensors.scales.key_descale = {0.25f};
  const auto result = reference_attention(problem, tensors, ReferenceMode::kFloat64);
  CHECK(result.largest_logit == std::vector<double>{2.5, 3.5});
  // Products of a key k: k and -2 k, so |-2 k| / 2 is its largest term, and signs cancel.
  const auto expected = [&](int visible) {
    double sum = 0, bias = 0, variance = 0;
    for (int key = 0; key < visible; ++key) sum += std::exp(-keys[key] / 2);
    for (int key = 0; key < visible; ++key) {
      const double weight = std::exp(-keys[key] / 2) / sum;
      const double cut = std::ldexp(std::abs(keys[key]), -13);
      bias += weight * cut / 2;
      variance += weight * weight * cut * cut * 33 / 3;
    }
    return bias + 4 * std::sqrt(variance);
  };
  CHECK(result.cut_error[0] == Approx(expected(2)));
  CHECK(result.cut_error[1] == Approx(expected(3)));
  tensors.scales.log_sum_exp_shift = {-3, 0};  // logits of -1, 2.5 become -4, -0.5
  CHECK(reference_attention(problem, tensors, ReferenceMode::kFloat64).largest_logit ==
        std::vector<double>{4, 3.5});
  problem.variant.dtype = DataType::kFp16;
  tensors.scales = {};
  CHECK(reference_attention(problem, tensors, ReferenceMode::kFloat64).cut_error.empty());
}

TEST_CASE("scales of the wrong shape are refused by name") {
  Problem problem =
      make_problem(DataType::kE4m3, 32, MaskKind::kFull,
                   {.batch = 2, .heads = 4, .kv_heads = 2, .seqlen_q = 129, .seqlen_kv = 128});
  const auto message_of = [&](std::vector<float> HostScales::*field, std::size_t count) {
    HostTensors tensors = make_inputs(problem, InputKind::kNormal, 1);
    (tensors.scales.*field).assign(count, 1);
    try {
      reference_attention(problem, tensors, ReferenceMode::kFloat64);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::kInvalidArgument);
      return error.field() + "; " + error.what();
    }
    return std::string("accepted");
  };
  problem.variant.scales = ScaleKind::kBlock;
  CHECK(message_of(&HostScales::query_descale, 2 * 4 * 2) == "accepted");
  CHECK(message_of(&HostScales::query_descale, 2 * 4) ==
        "query_descale; query_descale: 8 numbers, but scales=block and the problem's sizes want "
        "16, [2, 4, 2]");
  CHECK(message_of(&HostScales::key_descale, 2 * 2 * 1) == "accepted");
  CHECK(message_of(&HostScales::key_descale, 5).rfind("key_descale; key_descale: 5 ", 0) == 0);
  CHECK(message_of(&HostScales::value_descale, 4) == "accepted");
  CHECK(message_of(&HostScales::value_descale, 1).rfind("value_descale;", 0) == 0);
  CHECK(message_of(&HostScales::value_mean, 2 * 2 * 32) == "accepted");
  CHECK(message_of(&HostScales::value_mean, 32).rfind("value_mean;", 0) == 0);
  CHECK(message_of(&HostScales::log_sum_exp_shift, 2 * 4 * 129) == "accepted");
  CHECK(message_of(&HostScales::log_sum_exp_shift, 1).rfind("log_sum_exp_shift;", 0) == 0);
  problem.variant.scales = ScaleKind::kTensor;
  CHECK(message_of(&HostScales::value_descale, 1) == "accepted");
  CHECK(message_of(&HostScales::query_descale, 8).rfind("query_descale;", 0) == 0);
  problem.variant = {.dtype = DataType::kFp16, .head_dim = 32};
  CHECK(message_of(&HostScales::query_descale, 1).find("fp16; leave it out") != std::string::npos);
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
