#include "runtime/testing/quantise.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/testing/element.hpp"
#include "runtime/testing/inputs.hpp"
#include "runtime/testing/reference.hpp"
#include "runtime/testing/scales.hpp"
#include "templates/quantiser_layout.cuh"

using namespace heddle;

namespace {

Problem small_problem(ScaleKind scales, int head_dim = 64) {
  Problem problem;
  problem.variant = {
      .dtype = DataType::kE4m3, .head_dim = head_dim, .mask = MaskKind::kCausal, .scales = scales};
  problem.sizes = {.batch = 2, .heads = 4, .kv_heads = 2, .seqlen_q = 140, .seqlen_kv = 150};
  return problem;
}

/// What attention gives in the end, beside that of the numbers themselves (rounded to fp16).
struct Distance {
  double output = 0;  ///< RMS
  double log_sum_exp = 0;
};

Distance distance(const Problem& problem, const InputNumbers& numbers, const HostTensors& made) {
  Problem original = problem;
  original.variant = {
      .dtype = DataType::kFp16, .head_dim = problem.variant.head_dim, .mask = problem.variant.mask};
  const auto exact =
      reference_attention(original, encode(original, numbers, {}), ReferenceMode::kFloat64);
  const auto result = reference_attention(problem, made, ReferenceMode::kFloat64);
  Distance distance;
  for (std::size_t i = 0; i < exact.output.size(); ++i) {
    distance.output += std::pow(exact.output[i] - result.output[i], 2);
  }
  distance.output = std::sqrt(distance.output / static_cast<double>(exact.output.size()));
  for (std::size_t i = 0; i < exact.log_sum_exp.size(); ++i) {
    distance.log_sum_exp =
        std::max(distance.log_sum_exp, std::abs(exact.log_sum_exp[i] - result.log_sum_exp[i]));
  }
  return distance;
}

/// N(0, 1), with a mean for each column of K and V, and columns of Q and K that stand out.
InputNumbers offset_numbers(const Problem& problem) {
  InputNumbers numbers = make_numbers(problem, InputKind::kNormal, 3);
  const auto columns = static_cast<std::size_t>(problem.variant.head_dim);
  for (std::size_t i = 0; i < numbers.key.size(); ++i) {
    numbers.key[i] += static_cast<float>(i % columns % 5) - 1;
    numbers.value[i] += static_cast<float>(i % columns % 3);
  }
  return numbers;
}

}  // namespace

TEST_CASE("every recipe leaves attention what it was, but for rounding") {
  const auto scales =
      GENERATE(ScaleKind::kTensor, ScaleKind::kHead, ScaleKind::kBlock, ScaleKind::kToken);
  const auto head_dim = GENERATE(64, 96);
  Problem problem = small_problem(scales, head_dim);
  if (head_dim == 96) problem.variant.value_layout = ValueLayout::kTransposed;
  const InputNumbers numbers = offset_numbers(problem);
  for (int which = 0; which < 8; ++which) {
    const QuantiseRecipe recipe{(which & 1) != 0, (which & 2) != 0, (which & 4) != 0, 7};
    INFO(enum_name(scales) << " recipe " << which);
    const Distance off = distance(problem, numbers, quantise(problem, numbers, recipe));
    CHECK(off.output < 0.06);
    CHECK(off.log_sum_exp < 0.3);
    CHECK(off.output > 1e-3);
  }
}

TEST_CASE("each ingredient does what it is for") {
  const Problem problem = small_problem(ScaleKind::kHead);
  const auto rms = [&](const InputNumbers& numbers, const QuantiseRecipe& recipe) {
    return distance(problem, numbers, quantise(problem, numbers, recipe)).output;
  };
  SECTION("means, where there are means") {
    const InputNumbers numbers = offset_numbers(problem);
    CHECK(rms(numbers, {.key_mean = true}) < 0.9 * rms(numbers, {}));
    CHECK(rms(numbers, {.key_mean = true, .value_mean = true}) <
          0.8 * rms(numbers, {.key_mean = true}));
  }
  SECTION("the rotation, where columns stand out") {
    InputNumbers numbers = make_numbers(problem, InputKind::kNormal, 3);
    for (std::size_t i = 0; i < numbers.query.size(); i += 64) numbers.query[i] *= 20;
    for (std::size_t i = 0; i < numbers.key.size(); i += 64) numbers.key[i] *= 20;
    CHECK(rms(numbers, {.rotate = true}) < 0.6 * rms(numbers, {}));
  }
}

TEST_CASE("a rotation keeps lengths, differs by its seed, and is not the identity") {
  Problem problem = small_problem(ScaleKind::kToken, 96);
  problem.sizes = {.seqlen_q = 3, .seqlen_kv = 1};
  const InputNumbers numbers = make_numbers(problem, InputKind::kNormal, 5);
  const auto rotated = [&](std::uint32_t seed) {
    return quantise(problem, numbers, {.rotate = true, .seed = seed});
  };
  const HostTensors first = rotated(1);
  CHECK(first.query == rotated(1).query);
  CHECK(first.query != rotated(2).query);
  CHECK(first.query != quantise(problem, numbers, {}).query);
  for (int row = 0; row < 3; ++row) {
    double before = 0, after = 0;
    for (int column = 0; column < 96; ++column) {
      before += std::pow(numbers.query[row * 96 + column], 2);
      after += std::pow(
          e4m3_to_float(first.query[row * 96 + column]) * first.scales.query_descale[row], 2);
    }
    CHECK(after == Approx(before).epsilon(0.03));
  }
  int negated = 0;
  for (int column = 0; column < 256; ++column) negated += rotation_negates(1, column);
  CHECK((negated > 90 && negated < 166));
}

TEST_CASE("scales make the largest magnitude 448, and 1 of zeros; infinities become NaN") {
  Problem problem = small_problem(ScaleKind::kToken);
  problem.sizes = {.seqlen_q = 3, .seqlen_kv = 1};
  InputNumbers numbers = make_numbers(problem, InputKind::kNormal, 5);
  std::fill_n(numbers.query.begin() + 64, 64, 0.0f);
  numbers.query[7] = -9;
  numbers.query[2 * 64] = INFINITY;
  const HostTensors made = quantise(problem, numbers, {});
  CHECK(made.scales.query_descale[0] == 9.0f / 448);
  CHECK(made.query[7] == e4m3_from_float(-448));
  CHECK(made.scales.query_descale[1] == 1);
  CHECK(made.query[64] == 0);
  CHECK(std::isnan(e4m3_to_float(made.query[2 * 64])));
  CHECK(made.scales.query_descale[2] < 1);
}

TEST_CASE("tensors as one scale each when all share it") {
  const Problem problem = small_problem(ScaleKind::kTensor);
  const HostTensors made = quantise(problem, offset_numbers(problem), {.value_mean = true});
  CHECK(made.scales.query_descale.size() == 1);
  CHECK(made.scales.value_descale.size() == 1);
  CHECK(made.scales.value_mean.size() == 2 * 2 * 64);
  CHECK(made.scales.log_sum_exp_shift.empty());
  CHECK_NOTHROW(check_scales(problem, made.scales));
}
