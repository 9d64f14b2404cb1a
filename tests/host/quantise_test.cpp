// The quantiser's kernels on the CPU, beside the float64 reference of the whole recipe.
#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/host/quantiser.hpp"
#include "runtime/host/verify.hpp"
#include "runtime/testing/element.hpp"
#include "runtime/testing/inputs.hpp"
#include "runtime/testing/quantise.hpp"
#include "runtime/testing/scales.hpp"

namespace heddle {
namespace {

constexpr unsigned kSeed = 7;

HostCompiler& compiler() {
  static HostCompiler compiler;
  return compiler;
}

struct Subject {
  Problem problem;
  DataType dtype = DataType::kBf16;
  QuantiserRecipe recipe;

  /// Numbers that the input type holds exactly; columns of K and V have means.
  InputNumbers numbers() const {
    InputNumbers numbers = make_numbers(problem, InputKind::kNormal, 3);
    const auto columns = static_cast<std::size_t>(problem.variant.head_dim);
    for (std::size_t i = 0; i < numbers.key.size(); ++i) {
      numbers.key[i] += static_cast<float>(i % columns % 5) - 1;
      numbers.value[i] += static_cast<float>(i % columns % 3);
    }
    for (auto* tensor : {&numbers.query, &numbers.key, &numbers.value}) {
      for (float& number : *tensor) number = round_to_element(dtype, number);
    }
    return numbers;
  }

  HostTensors inputs(const InputNumbers& numbers) const {
    Problem original = problem;
    original.variant = {.dtype = dtype, .head_dim = problem.variant.head_dim};
    return encode(original, numbers, {});
  }

  HostTensors by_kernels(const InputNumbers& numbers, Landing landing = Landing::kLatest) const {
    const HostQuantised made = quantise_on_host(compiler(), problem, dtype, inputs(numbers), recipe,
                                                kSeed, {{5, landing}, 0});
    std::string faults;
    for (const HostFault& fault : made.faults) faults += fault.describe() + '\n';
    INFO(faults);
    REQUIRE(made.faults.empty());
    return made.tensors;
  }

  HostTensors by_reference(const InputNumbers& numbers) const {
    return quantise(problem, numbers, reference_recipe());
  }
  QuantiseRecipe reference_recipe() const {
    return {recipe.rotate, recipe.key_mean, recipe.value_mean, kSeed};
  }
};

Subject make_subject(ScaleKind scales, int head_dim, const QuantiserRecipe& recipe) {
  Subject subject;
  subject.problem.variant = {.dtype = DataType::kE4m3, .head_dim = head_dim, .scales = scales};
  subject.problem.sizes = {
      .batch = 2, .heads = 4, .kv_heads = 2, .seqlen_q = 45, .seqlen_kv = 150, .scale = 0.125};
  subject.recipe = recipe;
  return subject;
}

/// Within a millionth of themselves, or of `size` where that is more.
void check_numbers(const std::vector<float>& actual, const std::vector<float>& expected,
                   double size) {
  REQUIRE(actual.size() == expected.size());
  int wrong = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double error =
        std::abs(static_cast<double>(actual[i]) - static_cast<double>(expected[i]));
    const double allowed = 1e-6 * std::max(size, std::abs(static_cast<double>(expected[i])));
    if (actual[i] == expected[i]) continue;  // infinities
    wrong += std::isnan(expected[i]) ? !std::isnan(actual[i]) : !(error <= allowed);
  }
  CHECK(wrong == 0);
}

/// Each element is the nearest to its number over its scale, or as near but for fp32's error.
void check_elements(const std::vector<std::uint16_t>& actual, const std::vector<double>& numbers,
                    const TensorShape& shape, const ScaleShape& scale_shape,
                    const std::vector<float>& scales) {
  constexpr double kSlack = 2e-4;  // of an element, of which the smallest step is 2e-3
  REQUIRE(actual.size() == numbers.size());
  const auto columns = static_cast<std::size_t>(shape.columns);
  int wrong = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const auto row = static_cast<int>(i / columns);
    const int head = row / shape.rows;
    const double scale = static_cast<double>(
        scales[scale_shape.index(head / shape.heads, head % shape.heads, row % shape.rows)]);
    const double wanted = numbers[i] / scale;
    const auto given = static_cast<double>(e4m3_to_float(actual[i]));
    const auto nearest =
        static_cast<double>(round_to_element(DataType::kE4m3, static_cast<float>(wanted)));
    wrong += std::isfinite(wanted)
                 ? !(std::abs(given - wanted) <= std::abs(nearest - wanted) + kSlack)
                 : !std::isnan(given);
  }
  CHECK(wrong == 0);
}

/// V as rows, whatever its layout.
std::vector<std::uint16_t> value_rows(const Problem& problem,
                                      const std::vector<std::uint16_t>& laid_out) {
  const TensorShape keys = key_value_shape(problem);
  std::vector<std::uint16_t> places(keys.elements());  // + 1: zeros are padding
  std::vector<std::uint16_t> rows(keys.elements());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::uint16_t>(i + 1);
  const std::vector<std::uint16_t> where = lay_out_values(problem, places);
  REQUIRE(where.size() == laid_out.size());
  for (std::size_t i = 0; i < where.size(); ++i) {
    if (where[i] == 0) {
      CHECK(laid_out[i] == 0);
    } else {
      rows[where[i] - 1u] = laid_out[i];
    }
  }
  return rows;
}

void check_against_reference(const Subject& subject, const InputNumbers& numbers) {
  const Problem& problem = subject.problem;
  const HostTensors made = subject.by_kernels(numbers);
  const HostTensors expected = subject.by_reference(numbers);
  const HostScales& scales = made.scales;
  check_numbers(scales.query_descale, expected.scales.query_descale, 0);
  check_numbers(scales.key_descale, expected.scales.key_descale, 0);
  check_numbers(scales.value_descale, expected.scales.value_descale, 0);
  check_numbers(scales.value_mean, expected.scales.value_mean, 1);
  check_numbers(scales.log_sum_exp_shift, expected.scales.log_sum_exp_shift, 3);
  const PreparedInputs prepared = prepare_inputs(problem, numbers, subject.reference_recipe());
  const TensorShape keys = key_value_shape(problem);
  check_elements(made.query, prepared.query, query_shape(problem), query_scale_shape(problem),
                 scales.query_descale);
  check_elements(made.key, prepared.key, keys, key_scale_shape(problem), scales.key_descale);
  REQUIRE(keys.elements() < 0xffff);
  check_elements(value_rows(problem, made.value), prepared.value, keys, value_scale_shape(problem),
                 scales.value_descale);
}

}  // namespace

TEST_CASE("the quantiser's kernels do what its reference does, for every recipe and scale") {
  const auto scales =
      GENERATE(ScaleKind::kTensor, ScaleKind::kHead, ScaleKind::kBlock, ScaleKind::kToken);
  for (const int which : {0, 2, 5, 7}) {
    Subject subject =
        make_subject(scales, 64, {(which & 1) != 0, (which & 2) != 0, (which & 4) != 0});
    if (which % 2 == 1) subject.problem.variant.value_layout = ValueLayout::kTransposed;
    subject.dtype = which % 3 == 0 ? DataType::kFp16 : DataType::kBf16;
    INFO(enum_name(scales) << " recipe " << which);
    check_against_reference(subject, subject.numbers());
  }
}

TEST_CASE("the quantiser takes every head dim and ragged length") {
  struct Row {
    int head_dim, seqlen_q, seqlen_kv;
  };
  for (const Row& row : {Row{32, 1, 17}, Row{96, 130, 16}, Row{128, 128, 129}, Row{160, 3, 1},
                         Row{192, 127, 257}, Row{224, 20, 31}, Row{256, 5, 130}}) {
    Subject subject = make_subject(ScaleKind::kBlock, row.head_dim, {true, true, true});
    subject.problem.sizes.batch = 1;
    subject.problem.sizes.kv_heads = row.head_dim < 128 ? 2 : 1;
    subject.problem.sizes.seqlen_q = row.seqlen_q;
    subject.problem.sizes.seqlen_kv = row.seqlen_kv;
    subject.problem.variant.value_layout = ValueLayout::kTransposed;
    INFO("head_dim " << row.head_dim << ", queries " << row.seqlen_q << ", keys " << row.seqlen_kv);
    check_against_reference(subject, subject.numbers());
  }
}

TEST_CASE("the quantiser's small tiles, where none has to be whole, take every head dim") {
  for (const int head_dim : {96, 128, 256}) {
    for (const bool rotates : {false, true}) {
      Subject subject = make_subject(ScaleKind::kHead, head_dim, {rotates, false, false});
      subject.problem.sizes.batch = head_dim == 128 ? 2 : 1;
      subject.problem.sizes.heads = 2;
      subject.problem.sizes.kv_heads = 1;
      subject.problem.sizes.seqlen_q = 33;
      subject.problem.sizes.seqlen_kv = 145;
      subject.problem.variant.value_layout = ValueLayout::kTransposed;
      INFO("head_dim " << head_dim << (rotates ? ", rotated" : ""));
      check_against_reference(subject, subject.numbers());
    }
  }
}

TEST_CASE("what is quantised has the same bits under every schedule") {
  Subject subject = make_subject(ScaleKind::kHead, 96, {true, true, true});
  subject.problem.variant.value_layout = ValueLayout::kTransposed;
  const InputNumbers numbers = subject.numbers();
  const HostTensors first = subject.by_kernels(numbers);
  for (const Landing landing : {Landing::kEarliest, Landing::kRandom}) {
    const HostTensors again = subject.by_kernels(numbers, landing);
    CHECK(again.query == first.query);
    CHECK(again.key == first.key);
    CHECK(again.value == first.value);
    CHECK(again.scales.key_descale == first.scales.key_descale);
    CHECK(again.scales.value_mean == first.scales.value_mean);
    CHECK(again.scales.log_sum_exp_shift == first.scales.log_sum_exp_shift);
  }
}

TEST_CASE("zeros, NaN and infinity: a scale of 1, and NaN where they were") {
  for (const bool means : {false, true}) {
    Subject subject = make_subject(ScaleKind::kToken, 64, {false, means, means});
    subject.dtype = DataType::kFp16;
    InputNumbers numbers = subject.numbers();
    std::fill_n(numbers.query.begin(), 64, 0.0f);
    numbers.query[64 + 3] = NAN;
    numbers.query[2 * 64 + 5] = INFINITY;
    numbers.value[7] = NAN;
    numbers.value[64 + 7] = -INFINITY;
    check_against_reference(subject, numbers);
    const HostTensors made = subject.by_kernels(numbers);
    CHECK(made.scales.query_descale[0] == 1);
    int odd = 0;
    for (const auto* tensor : {&made.query, &made.key, &made.value}) {
      for (const std::uint16_t bits : *tensor) odd += (bits & 0x7f) == 0x7f;
    }
    CHECK(odd == 4);
  }
}

/// Quantised by its kernels, multiplied by fa3's: beside float64 over the originals.
TEST_CASE("what the quantiser makes is what the kernels take") {
  Subject subject = make_subject(ScaleKind::kBlock, 64, {true, true, true});
  Problem& problem = subject.problem;
  problem.variant.mask = MaskKind::kCausal;
  problem.variant.value_layout = ValueLayout::kTransposed;
  const InputNumbers numbers = subject.numbers();
  const HostTensors made = subject.by_kernels(numbers);

  const DeviceLimits limits = find_architecture("sm_90a");
  KernelConfig config{.family = Family::kFa3, .tile_m = 64, .tile_n = 64, .warps = 4};
  const HostConfig kernels = compile_for_host(compiler(), problem.variant, config, limits);
  const HostVerdict verdict = verify_on_host(make_host_case(problem, made), kernels, limits, {3});
  INFO(verdict.explain());
  REQUIRE(verdict.passed());

  Problem original = problem;
  original.variant = {.dtype = subject.dtype, .head_dim = 64, .mask = MaskKind::kCausal};
  const AttentionResult exact =
      reference_attention(original, subject.inputs(numbers), ReferenceMode::kFloat64);
  double squares = 0, errors = 0;
  for (std::size_t i = 0; i < exact.output.size(); ++i) {
    const auto output = static_cast<double>(bf16_to_float(verdict.run.output[i]));
    errors += std::pow(output - exact.output[i], 2);
    squares += std::pow(exact.output[i], 2);
  }
  CHECK(std::sqrt(errors / squares) < 0.03);
  for (std::size_t row = 0; row < exact.log_sum_exp.size(); ++row) {
    REQUIRE(std::abs(static_cast<double>(verdict.run.log_sum_exp[row]) - exact.log_sum_exp[row]) <
            0.2);
  }
}

}  // namespace heddle
