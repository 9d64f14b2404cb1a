// Cases about what comes with 8-bit inputs: scales, means, shifts, and the order of V's keys.

#include <cmath>
#include <numbers>

#include "runtime/testing/case_builder.hpp"
#include "runtime/testing/scales.hpp"

namespace heddle {
namespace {

constexpr std::uint64_t kSeed = 80;

CaseInput random_case(std::string name, const Variant& form, MaskKind mask, const Sizes& sizes,
                      InputKind kind) {
  CaseInput input;
  input.name = std::move(name);
  input.problem.variant = form;
  input.problem.variant.head_dim = 64;
  input.problem.variant.mask = mask;
  input.problem.sizes = sizes;
  input.tensors = make_inputs(input.problem, kind, kSeed);
  return input;
}

std::vector<float> normal_numbers(std::size_t count, float scale, std::uint64_t seed) {
  NormalSource source(seed);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = scale * static_cast<float>(source.next());
  return numbers;
}

/// P and the sums are exact, so that no error of P hides a key in another's place. Lengths around
/// groups of 16 keys, blocks of scales and tiles. O is bf16: fp16's rounding, the only error left
/// to compare with, would be finer than what tensor cores keep of 8-bit products.
void add_exact_sums(std::vector<CaseInput>& cases, Variant form) {
  form.output_dtype = DataType::kBf16;
  for (const int keys : {1, 15, 16, 17, 31, 33, 127, 129, 257}) {
    for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
      cases.push_back(random_case(
          "exact sums, " + std::string(enum_name(mask)) + ", keys " + value_text(keys), form, mask,
          {.heads = 2, .seqlen_q = 70, .seqlen_kv = keys, .scale = std::numbers::ln2},
          InputKind::kExact));
    }
  }
}

/// C80: no scale at all, which is 1, and the ends of e4m3's range.
void add_absent_scales(std::vector<CaseInput>& cases, const Variant& form) {
  CaseInput input = random_case("C80 no scales", form, MaskKind::kCausal,
                                {.heads = 4, .kv_heads = 2, .seqlen_q = 130, .seqlen_kv = 200},
                                InputKind::kNormal);
  input.tensors.scales = {};
  cases.push_back(input);

  CaseInput largest = build_case({.name = "C80 V of 448",
                                  .form = form,
                                  .sizes = {.heads = 2, .seqlen_q = 5, .seqlen_kv = 130},
                                  .query = constant(0),
                                  .value = [](const ElementIndex& index, double) {
                                    return index.head == 0 ? 448.0 : -448.0;
                                  }});
  largest.expected = {{.head = 0, .output = 448, .log_sum_exp = std::log(130)},
                      {.head = 1, .output = -448, .log_sum_exp = std::log(130)}};
  cases.push_back(std::move(largest));
}

/// C80: the scales that it names, one by one visible: equal keys, V of ones.
void add_named_scales(std::vector<CaseInput>& cases, const Variant& form) {
  const Sizes sizes{.heads = 4, .kv_heads = 2, .seqlen_q = 5, .seqlen_kv = 40, .scale = 1};
  CaseInput input = build_case({.name = "C80 scales by head",
                                .form = form,
                                .sizes = sizes,
                                .query = first_column([](int) { return 3.0; }),
                                .key = first_column([](int) { return 0.5; }),
                                .value = constant(1)});
  const bool shared = form.scales == ScaleKind::kTensor;
  HostScales& scales = input.tensors.scales;
  // Elements stay as build_case has rounded them, so each scale now multiplies what is known.
  const auto change = [&](std::vector<float>& factors, float first, float second) {
    for (std::size_t i = 0; i < factors.size(); ++i) {
      factors[i] *= shared || i < factors.size() / 2 ? first : second;
    }
  };
  change(scales.query_descale, 2, 2);
  change(scales.key_descale, 1, 4);
  change(scales.value_descale, 1, 0.5);
  for (int head = 0; head < sizes.heads; ++head) {
    const bool first = shared || head < 2;
    input.expected.push_back({.head = head,
                              .output = first ? 1.0 : 0.5,
                              .log_sum_exp = (first ? 3.0 : 12.0) + std::log(40)});
  }
  cases.push_back(std::move(input));
}

/// What a quantiser took off V and K comes back, but not on rows without a key.
void add_means(std::vector<CaseInput>& cases, const Variant& form) {
  CaseInput input = random_case("V with a mean, LSE shifted", form, MaskKind::kCausal,
                                {.heads = 4, .kv_heads = 2, .seqlen_q = 150, .seqlen_kv = 140},
                                InputKind::kNormal);
  input.tensors.scales.value_mean = normal_numbers(2 * 64, 2, kSeed + 1);
  input.tensors.scales.log_sum_exp_shift = normal_numbers(4 * 150, 5, kSeed + 2);
  input.expected = {
      {.end_query = 10, .output = 0, .log_sum_exp = -std::numeric_limits<double>::infinity()}};
  cases.push_back(std::move(input));
}

}  // namespace

std::vector<CaseInput> scale_cases(const Variant& form) {
  std::vector<CaseInput> cases;
  if (form.dtype != DataType::kE4m3) return cases;
  add_exact_sums(cases, form);
  add_absent_scales(cases, form);
  add_named_scales(cases, form);
  add_means(cases, form);
  return cases;
}

}  // namespace heddle
