// The quantiser's kernels on the CPU, beside the float64 reference of the whole recipe.
#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/host/quantiser.hpp"
#include "runtime/host/verify.hpp"
#include "runtime/testing/element.hpp"
#include "tests/testing/quantised.hpp"

namespace heddle {
namespace {

HostCompiler& compiler() {
  static HostCompiler compiler;
  return compiler;
}

HostTensors by_kernels(const QuantiserCase& subject, const InputNumbers& numbers,
                       Landing landing = Landing::kLatest) {
  const HostQuantised made =
      quantise_on_host(subject.problem, compile_quantiser_for_host(compiler(), subject.configs()),
                       quantiser_inputs(subject, numbers), subject.seed, {{5, landing}, 0});
  std::string faults;
  for (const HostFault& fault : made.faults) faults += fault.describe() + '\n';
  INFO(faults);
  REQUIRE(made.faults.empty());
  return made.tensors;
}

QuantiserCase make_subject(ScaleKind scales, int head_dim, const QuantiserRecipe& recipe) {
  QuantiserCase subject;
  subject.problem.variant = {.dtype = DataType::kE4m3, .head_dim = head_dim, .scales = scales};
  subject.problem.sizes = {
      .batch = 2, .heads = 4, .kv_heads = 2, .seqlen_q = 45, .seqlen_kv = 150, .scale = 0.125};
  subject.recipe = recipe;
  return subject;
}

void check_against_reference(const QuantiserCase& subject, const InputNumbers& numbers) {
  CHECK(check_quantised(subject, numbers, by_kernels(subject, numbers)) == "");
}
void check_against_reference(const QuantiserCase& subject) {
  check_against_reference(subject, quantiser_numbers(subject));
}

}  // namespace

TEST_CASE("the quantiser's kernels do what its reference does, for every recipe and scale") {
  const auto scales =
      GENERATE(ScaleKind::kTensor, ScaleKind::kHead, ScaleKind::kBlock, ScaleKind::kToken);
  for (const int which : {0, 2, 5, 7}) {
    QuantiserCase subject =
        make_subject(scales, 64, {(which & 1) != 0, (which & 2) != 0, (which & 4) != 0});
    if (which % 2 == 1) subject.problem.variant.value_layout = ValueLayout::kTransposed;
    subject.dtype = which % 3 == 0 ? DataType::kFp16 : DataType::kBf16;
    INFO(enum_name(scales) << " recipe " << which);
    check_against_reference(subject);
  }
}

TEST_CASE("the quantiser takes every head dim and ragged length") {
  struct Row {
    int head_dim, seqlen_q, seqlen_kv;
  };
  for (const Row& row : {Row{32, 1, 17}, Row{96, 130, 16}, Row{128, 128, 129}, Row{160, 3, 1},
                         Row{192, 127, 257}, Row{224, 20, 31}, Row{256, 5, 130}}) {
    QuantiserCase subject = make_subject(ScaleKind::kBlock, row.head_dim, {true, true, true});
    subject.problem.sizes.batch = 1;
    subject.problem.sizes.kv_heads = row.head_dim < 128 ? 2 : 1;
    subject.problem.sizes.seqlen_q = row.seqlen_q;
    subject.problem.sizes.seqlen_kv = row.seqlen_kv;
    subject.problem.variant.value_layout = ValueLayout::kTransposed;
    INFO("head_dim " << row.head_dim << ", queries " << row.seqlen_q << ", keys " << row.seqlen_kv);
    check_against_reference(subject);
  }
}

TEST_CASE("the quantiser's small tiles, where none has to be whole, take every head dim") {
  for (const int head_dim : {96, 128, 256}) {
    for (const bool rotates : {false, true}) {
      QuantiserCase subject = make_subject(ScaleKind::kHead, head_dim, {rotates, false, false});
      subject.problem.sizes.batch = head_dim == 128 ? 2 : 1;
      subject.problem.sizes.heads = 2;
      subject.problem.sizes.kv_heads = 1;
      subject.problem.sizes.seqlen_q = 33;
      subject.problem.sizes.seqlen_kv = 145;
      subject.problem.variant.value_layout = ValueLayout::kTransposed;
      INFO("head_dim " << head_dim << (rotates ? ", rotated" : ""));
      check_against_reference(subject);
    }
  }
}

TEST_CASE("what is quantised has the same bits under every schedule") {
  QuantiserCase subject = make_subject(ScaleKind::kHead, 96, {true, true, true});
  subject.problem.variant.value_layout = ValueLayout::kTransposed;
  const InputNumbers numbers = quantiser_numbers(subject);
  const HostTensors first = by_kernels(subject, numbers);
  for (const Landing landing : {Landing::kEarliest, Landing::kRandom}) {
    const HostTensors again = by_kernels(subject, numbers, landing);
    CHECK(same_quantised(again, first));
  }
}

TEST_CASE("zeros, NaN and infinity: a scale of 1, and NaN where they were") {
  for (const bool means : {false, true}) {
    QuantiserCase subject = make_subject(ScaleKind::kToken, 64, {false, means, means});
    subject.dtype = DataType::kFp16;
    InputNumbers numbers = quantiser_numbers(subject);
    std::fill_n(numbers.query.begin(), 64, 0.0f);
    numbers.query[64 + 3] = NAN;
    numbers.query[2 * 64 + 5] = INFINITY;
    numbers.value[7] = NAN;
    numbers.value[64 + 7] = -INFINITY;
    check_against_reference(subject, numbers);
    const HostTensors made = by_kernels(subject, numbers);
    CHECK(made.scales.query_descale[0] == 1);
    int odd = 0;
    for (const auto* tensor : {&made.query, &made.key, &made.value}) {
      for (const std::uint16_t bits : *tensor) odd += (bits & 0x7f) == 0x7f;
    }
    CHECK(odd == 4);
  }
}

TEST_CASE("one scale for more tiles than its block has threads") {
  QuantiserCase subject = make_subject(ScaleKind::kTensor, 32, {});
  Sizes& sizes = subject.problem.sizes;
  sizes.batch = 33;  // 132 heads of a tile each; 128 threads
  sizes.seqlen_q = sizes.seqlen_kv = 2;
  InputNumbers numbers = quantiser_numbers(subject);
  numbers.query.back() = 100;
  check_against_reference(subject, numbers);
}

TEST_CASE("a column without a finite number has no mean and no say in a head's scale") {
  QuantiserCase subject = make_subject(ScaleKind::kHead, 64, {false, true, true});
  InputNumbers numbers = quantiser_numbers(subject);
  for (int key = 0; key < subject.problem.sizes.seqlen_kv; ++key) {
    const auto first = static_cast<std::size_t>(key) * 64;
    numbers.key[first + 5] = numbers.value[first + 17] = key % 2 == 0 ? NAN : INFINITY;
  }
  check_against_reference(subject, numbers);
}

/// Quantised by its kernels, multiplied by fa3's: beside float64 over the originals.
TEST_CASE("what the quantiser makes is what the kernels take") {
  QuantiserCase subject = make_subject(ScaleKind::kBlock, 64, {true, true, true});
  Problem& problem = subject.problem;
  problem.variant.mask = MaskKind::kCausal;
  problem.variant.value_layout = ValueLayout::kTransposed;
  const InputNumbers numbers = quantiser_numbers(subject);
  const HostTensors made = by_kernels(subject, numbers);

  const DeviceLimits limits = find_architecture("sm_90a");
  KernelConfig config{.family = Family::kFa3, .tile_m = 64, .tile_n = 64, .warps = 4};
  const HostConfig kernels = compile_for_host(compiler(), problem.variant, config, limits);
  const HostVerdict verdict = verify_on_host(make_host_case(problem, made), kernels, limits, {3});
  INFO(verdict.explain());
  REQUIRE(verdict.passed());

  Problem original = problem;
  original.variant = {.dtype = subject.dtype, .head_dim = 64, .mask = MaskKind::kCausal};
  const AttentionResult exact =
      reference_attention(original, quantiser_inputs(subject, numbers), ReferenceMode::kFloat64);
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
