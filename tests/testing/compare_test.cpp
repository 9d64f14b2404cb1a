#include "runtime/testing/compare.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/testing/element.hpp"
#include "runtime/testing/inputs.hpp"
#include "tests/testing/online_kernel.hpp"

using namespace heddle;

namespace {

constexpr std::uint16_t kNanBits = 0x7fff;
constexpr std::uint16_t kFp16Infinity = 0x7c00;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Subject {
  Problem problem;
  HostTensors tensors;
  AttentionResult reference, baseline;
  KernelOutput kernel;

  Comparison compare_kernel() const {
    return compare(problem, reference, baseline, kernel.output, kernel.log_sum_exp);
  }
  bool passes() const { return compare_kernel().record.passed; }
  int columns() const { return problem.variant.head_dim; }
};

Subject make_subject(const Problem& problem, const HostTensors& tensors) {
  return {problem, tensors, reference_attention(problem, tensors, ReferenceMode::kFloat64),
          reference_attention(problem, tensors, ReferenceMode::kBaseline),
          online_kernel(problem, tensors)};
}

Subject make_subject(DataType dtype, MaskKind mask, const Sizes& sizes, InputKind kind) {
  Problem problem;
  problem.variant = {.dtype = dtype, .head_dim = 64, .mask = mask};
  problem.sizes = sizes;
  return make_subject(problem, make_inputs(problem, kind, 11));
}

/// C26's subject: logits of standard deviation 1 over 65536 keys, so that |O| is about 0.006.
const Subject& long_subject() {
  static const Subject subject = make_subject(
      DataType::kBf16, MaskKind::kFull, {.seqlen_q = 16, .seqlen_kv = 65536}, InputKind::kNormal);
  return subject;
}

Subject small_subject() {
  return make_subject(DataType::kFp16, MaskKind::kCausal,
                      {.heads = 2, .seqlen_q = 48, .seqlen_kv = 80}, InputKind::kNormal);
}

bool mentions(const Comparison& comparison, const std::string& words) {
  return comparison.explanation.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("an honest kernel passes on every kind of input") {
  const auto dtype = GENERATE(DataType::kFp16, DataType::kBf16);
  const auto mask = GENERATE(MaskKind::kFull, MaskKind::kCausal);
  // Spikes and jumps are there to time kernels; the plain sums of this one miss the LSE's bound
  // there.
  for (const InputKind kind : {InputKind::kNormal, InputKind::kLargeLogits, InputKind::kOneHot,
                               InputKind::kRising, InputKind::kOneHeavy}) {
    const Subject subject = make_subject(
        dtype, mask, {.heads = 4, .kv_heads = 2, .seqlen_q = 97, .seqlen_kv = 193}, kind);
    const Comparison comparison = subject.compare_kernel();
    INFO(enum_name(kind) << ": " << comparison.explanation);
    CHECK(comparison.record.passed);
    CHECK(comparison.record.max_error > 0);
    CHECK(comparison.record.rms_error > 0);
    CHECK(comparison.record.baseline_max_error >= comparison.record.baseline_rms_error);
    CHECK(comparison.record.sizes == "heads=4,kv_heads=2,seqlen_q=97,seqlen_kv=193");
  }
}

TEST_CASE("an honest kernel passes at 65536 keys") {
  const Comparison comparison = long_subject().compare_kernel();
  INFO(comparison.explanation);
  CHECK(comparison.record.passed);
  CHECK(comparison.record.baseline_max_error < 2e-4);
}

TEST_CASE("the six garbage outputs of C26 are rejected") {
  Subject subject = long_subject();
  std::vector<std::uint16_t>& output = subject.kernel.output;
  SECTION("(a) every row is the mean of V") {
    std::vector<double> mean(64);
    for (std::size_t i = 0; i < subject.tensors.value.size(); ++i) {
      mean[i % 64] += static_cast<double>(bf16_to_float(subject.tensors.value[i])) / 65536;
    }
    for (std::size_t i = 0; i < output.size(); ++i) {
      output[i] = bf16_from_float(static_cast<float>(mean[i % 64]));
    }
    CHECK(mentions(subject.compare_kernel(), "O[batch 0, head 0, query 0, column"));
  }
  SECTION("(b) zeros") {
    output.assign(output.size(), 0);
    CHECK(mentions(subject.compare_kernel(), "column 0] = 0, the reference says"));
  }
  SECTION("(c) NaN everywhere") {
    output.assign(output.size(), kNanBits);
    CHECK(mentions(subject.compare_kernel(), "= nan"));
    CHECK(std::isinf(subject.compare_kernel().record.max_error));
  }
  SECTION("(d) one NaN") {
    output[5 * 64 + 7] = kNanBits;
    CHECK(mentions(subject.compare_kernel(), "[batch 0, head 0, query 5, column 7] = nan"));
  }
  SECTION("(e) the last query row is zero") {
    std::fill(output.end() - 64, output.end(), std::uint16_t{0});
    CHECK(mentions(subject.compare_kernel(), "query 15"));
  }
  SECTION("(f) LSE is off by ln 2") {
    for (float& value : subject.kernel.log_sum_exp) value += std::log(2.0f);
    CHECK(mentions(subject.compare_kernel(), "LSE[batch 0, head 0, query 0]"));
    CHECK(subject.compare_kernel().record.lse_error == Approx(std::log(2.0)).epsilon(1e-4));
  }
  CHECK_FALSE(subject.passes());
}

TEST_CASE("one element beyond twice the baseline's error is rejected") {
  Subject subject = small_subject();
  REQUIRE(subject.passes());
  const double allowed = 2 * subject.compare_kernel().record.baseline_max_error;
  const std::size_t last = subject.kernel.output.size() - 1;
  subject.kernel.output[last] =
      fp16_from_float(static_cast<float>(subject.reference.output[last] + 1.5 * allowed));
  CHECK(mentions(subject.compare_kernel(), "[batch 0, head 1, query 47, column 63]"));
}

TEST_CASE("a small error everywhere is rejected by its RMS") {
  Subject subject = small_subject();
  const double step = 3 * subject.compare_kernel().record.baseline_rms_error;
  for (std::size_t i = 0; i < subject.kernel.output.size(); ++i) {
    subject.kernel.output[i] =
        fp16_from_float(static_cast<float>(subject.reference.output[i] + step));
  }
  const Comparison comparison = subject.compare_kernel();
  CHECK(mentions(comparison, "RMS error"));
  CHECK_FALSE(comparison.record.passed);
}

TEST_CASE("LSE is held to 1e-5 and four ulps of the largest logit") {
  Subject subject = small_subject();
  subject.reference.largest_logit.assign(subject.reference.largest_logit.size(), 1.0);
  const double allowed = 1e-5 + 4 * std::ldexp(1.0, -23);
  for (const double factor : {0.9, 1.1}) {
    // In double until the comparison: the reference moves, so fp32 cannot blur the step.
    const double wanted = static_cast<double>(subject.kernel.log_sum_exp[3]) - factor * allowed;
    subject.reference.log_sum_exp[3] = wanted;
    CHECK(subject.passes() == (factor < 1));
  }
}

TEST_CASE("LSE's yardstick without largest_logit is |LSE|") {
  Subject subject = small_subject();
  subject.reference.largest_logit.clear();
  CHECK(subject.passes());
  subject.kernel.log_sum_exp[0] += 1e-3f;
  CHECK_FALSE(subject.passes());
}

TEST_CASE("LSE of e4m3 inputs may be off by what tensor cores cut of their products, no more") {
  Subject subject = small_subject();
  subject.reference.largest_logit.assign(subject.reference.largest_logit.size(), 1.0);
  subject.reference.cut_error.assign(subject.reference.largest_logit.size(), 1e-3);
  const double allowed = 1e-5 + 4 * std::ldexp(1.0, -23) + 1e-3;
  for (const double factor : {0.99, 1.01}) {
    const double wanted = static_cast<double>(subject.kernel.log_sum_exp[3]) - factor * allowed;
    subject.reference.log_sum_exp[3] = wanted;
    CHECK(subject.passes() == (factor < 1));
  }
  subject.reference.cut_error.pop_back();
  CHECK(mentions(subject.compare_kernel(), "cut_error"));
}

TEST_CASE("every scale off by a factor of 2 fails, whatever shares it") {
  const auto [scales, queries, keys] =
      GENERATE(std::tuple{ScaleKind::kTensor, 512, 512}, std::tuple{ScaleKind::kHead, 130, 512},
               std::tuple{ScaleKind::kBlock, 130, 512}, std::tuple{ScaleKind::kToken, 20, 150});
  Problem problem;
  problem.variant = {.dtype = DataType::kE4m3, .head_dim = 64, .scales = scales};
  problem.sizes = {.heads = 2, .seqlen_q = queries, .seqlen_kv = keys};
  const HostTensors tensors = make_inputs(problem, InputKind::kNormal, 11);
  const auto exact = reference_attention(problem, tensors, ReferenceMode::kFloat64);
  const auto baseline = reference_attention(problem, tensors, ReferenceMode::kBaseline);
  const auto passes = [&](const HostTensors& seen) {
    const auto result = reference_attention(problem, seen, ReferenceMode::kBaseline);
    std::vector<std::uint16_t> output;
    for (const double value : result.output) {
      output.push_back(bf16_from_float(static_cast<float>(value)));
    }
    const std::vector<float> lse(result.log_sum_exp.begin(), result.log_sum_exp.end());
    return compare(problem, exact, baseline, output, lse).record.passed;
  };
  CHECK(passes(tensors));
  int passed = 0;
  for (const auto field :
       {&HostScales::query_descale, &HostScales::key_descale, &HostScales::value_descale}) {
    for (std::size_t i = 0; i < (tensors.scales.*field).size(); ++i) {
      for (const float factor : {0.5f, 2.0f}) {
        HostTensors wrong = tensors;
        (wrong.scales.*field)[i] *= factor;
        passed += passes(wrong);
      }
    }
    HostTensors without = tensors;
    (without.scales.*field).clear();
    passed += passes(without);
  }
  CHECK(passed == 0);
}

TEST_CASE("rows without keys must be exactly 0 and -inf") {
  Subject subject = make_subject(DataType::kFp16, MaskKind::kCausal,
                                 {.seqlen_q = 5, .seqlen_kv = 2}, InputKind::kNormal);
  REQUIRE(subject.kernel.log_sum_exp[0] == -kInfinity);
  REQUIRE(subject.passes());
  SECTION("a tiny output") {
    subject.kernel.output[0] = 1;
  }
  SECTION("a finite LSE") {
    subject.kernel.log_sum_exp[0] = -1e30f;
  }
  SECTION("the wrong infinity") {
    subject.kernel.log_sum_exp[0] = kInfinity;
  }
  SECTION("a NaN LSE") {
    subject.kernel.log_sum_exp[0] = std::nanf("");
  }
  CHECK_FALSE(subject.passes());
}

TEST_CASE("where the reference is NaN or infinite, a finite value is rejected") {
  Subject subject = small_subject();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  SECTION("a NaN row must be NaN in O and LSE") {
    for (int c = 0; c < subject.columns(); ++c) {
      subject.reference.output[c] = subject.baseline.output[c] = kNan;
      subject.kernel.output[c] = kNanBits;
    }
    subject.reference.log_sum_exp[0] = kNan;
    CHECK_FALSE(subject.passes());  // LSE is still finite
    subject.kernel.log_sum_exp[0] = std::nanf("");
    CHECK(subject.passes());
    subject.kernel.output[3] = kFp16Infinity;
    CHECK_FALSE(subject.passes());
    subject.kernel.output[3] = 0;
    CHECK_FALSE(subject.passes());
  }
  SECTION("an infinite element may be NaN, but not finite nor of the other sign") {
    subject.reference.output[3] = static_cast<double>(kInfinity);
    for (const auto& [bits, passes] :
         {std::pair{kFp16Infinity, true}, std::pair{kNanBits, true},
          std::pair{std::uint16_t{0xfc00}, false}, std::pair{std::uint16_t{0x7bff}, false}}) {
      subject.kernel.output[3] = bits;
      CHECK(subject.passes() == passes);
    }
  }
}

TEST_CASE("a comparison of nothing, or of the wrong extents, does not pass") {
  Subject subject = small_subject();
  SECTION("no output at all") {
    subject.kernel = {};
  }
  SECTION("no LSE") {
    subject.kernel.log_sum_exp.clear();
  }
  SECTION("one element short") {
    subject.kernel.output.pop_back();
  }
  SECTION("no reference") {
    subject.reference = {};
  }
  SECTION("no baseline") {
    subject.baseline = {};
  }
  SECTION("an empty problem") {
    subject.problem.sizes.seqlen_q = 0;
    subject.reference = subject.baseline = {};
    subject.kernel = {};
    CHECK(mentions(subject.compare_kernel(), "nothing to compare"));
  }
  CHECK_FALSE(subject.passes());
}

TEST_CASE("a baseline that is not finite is no yardstick") {
  Subject subject = small_subject();
  subject.baseline.output[9] = std::numeric_limits<double>::infinity();
  CHECK(mentions(subject.compare_kernel(), "baseline is not finite"));
  CHECK_FALSE(subject.passes());
}
