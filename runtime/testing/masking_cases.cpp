// Cases about which keys a row sees, and what those it does not see may hold.

#include <cmath>

#include "runtime/testing/case_builder.hpp"
#include "runtime/testing/scales.hpp"

namespace heddle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// C03: with a bottom-right diagonal and more queries than keys the first rows see nothing.
void add_empty_rows(std::vector<CaseInput>& cases, const Variant& form) {
  for (const auto& [queries, keys] : {std::pair{3, 1}, std::pair{300, 100}}) {
    CaseInput input =
        build_case({.name = "C03 empty rows, " + value_text(queries) + " queries",
                    .form = form,
                    .mask = MaskKind::kCausal,
                    .sizes = {.seqlen_q = queries, .seqlen_kv = keys, .scale = 0.125}});
    input.expected = {{.end_query = queries - keys, .output = 0, .log_sum_exp = -kInfinity}};
    cases.push_back(std::move(input));
  }
}

/// C07: no key at all.
void add_zero_keys(std::vector<CaseInput>& cases, const Variant& form) {
  CaseInput input = build_case({.name = "C07 zero keys",
                                .form = form,
                                .sizes = {.batch = 2, .heads = 3, .seqlen_q = 5, .seqlen_kv = 0}});
  input.expected = {{.output = 0, .log_sum_exp = -kInfinity}};
  cases.push_back(std::move(input));
}

/// C09: all logits are -100, so a tail key taken for logit 0 would win everything.
void add_negative_logits(std::vector<CaseInput>& cases, const Variant& form) {
  for (const int keys : {1, 15, 17, 63, 65, 127, 129, 191, 257}) {
    CaseInput input = build_case({.name = "C09 logits -100, keys " + value_text(keys),
                                  .form = form,
                                  .sizes = {.seqlen_q = 4, .seqlen_kv = keys, .scale = 1},
                                  .query = first_column([](int) { return 10.0; }),
                                  .key = first_column([](int) { return -10.0; }),
                                  .value = constant(1)});
    input.expected = {{.output = 1, .log_sum_exp = -100 + std::log(keys)}};
    cases.push_back(std::move(input));
  }
}

/// The tensors of a longer problem with fewer keys in use: strides and storage stay.
void end_keys_at(int keys, CaseInput& input) {
  const Problem allocated = input.problem;
  Problem& problem = input.problem;
  problem.sizes.seqlen_kv = keys;
  problem.sizes.key_strides = effective_strides({}, key_value_shape(allocated));
  problem.sizes.value_strides = effective_strides({}, value_shape(allocated));
  for (HostTensors* tensors : {&input.tensors, &*input.clean}) {
    const std::vector<float> scales = std::move(tensors->scales.key_descale);
    const ScaleShape from = key_scale_shape(allocated);
    const ScaleShape to = key_scale_shape(problem);
    tensors->scales.key_descale.assign(scales.empty() ? 0 : to.count(), 1);
    if (scales.empty()) continue;
    for (int batch = 0; batch < to.batch; ++batch) {
      for (int head = 0; head < to.heads; ++head) {
        for (int key = 0; key < keys; ++key) {
          tensors->scales.key_descale[to.index(batch, head, key)] =
              scales[from.index(batch, head, key)];
        }
      }
    }
    // Transposed V ends with a whole group of keys: zeros where there is none.
    tensors->value = clear_value_padding(problem, std::move(tensors->value));
  }
}

/// C10: rows of K and V past the end hold NaN or Inf; the row strides reach past them.
void add_bad_tails(std::vector<CaseInput>& cases, const Variant& form) {
  constexpr int kKeys = 100;
  constexpr int kAllocated = 256;
  for (const auto& [name, bad] : {std::pair{"NaN", kNan}, std::pair{"Inf", kInfinity}}) {
    if (std::isinf(bad) && !has_infinity(form)) continue;
    const Adjust tail = [bad = bad](const ElementIndex& index, double normal) {
      return index.row >= kKeys ? bad : normal;
    };
    CaseInput input = build_with_clean_twin(
        {.name = std::string("C10 ") + name + " past the end",
         .form = form,
         .sizes = {.batch = 2, .heads = 2, .seqlen_q = 70, .seqlen_kv = kAllocated}},
        {.name = "", .form = form, .key = tail, .value = tail});
    end_keys_at(kKeys, input);
    cases.push_back(std::move(input));
  }
}

/// C10: causal, and only the last row may see the bad key.
void add_bad_last_key(std::vector<CaseInput>& cases, const Variant& form) {
  constexpr int kLast = 127;
  const Adjust bad_row = [](const ElementIndex& index, double normal) {
    return index.row == kLast ? kNan : normal;
  };
  const CaseRecipe clean{.name = "C10 causal, NaN in the last row of V",
                         .form = form,
                         .mask = MaskKind::kCausal,
                         .sizes = {.heads = 2, .seqlen_q = kLast + 1, .seqlen_kv = kLast + 1}};
  CaseInput value = build_with_clean_twin(clean, {.name = "", .form = form, .value = bad_row});
  value.expected = {{.first_query = kLast, .output = kNan, .log_sum_exp = std::nullopt}};
  cases.push_back(std::move(value));

  CaseInput key = build_with_clean_twin(clean, {.name = "", .form = form, .key = bad_row});
  key.name = "C10 causal, NaN in the last row of K";
  key.expected = {{.first_query = kLast, .output = kNan, .log_sum_exp = kNan}};
  cases.push_back(std::move(key));
}

/// C28: which corner the diagonal is pinned to. All logits 0, V[j] = j: rows are means of 0 ...
/// n-1.
void add_diagonal_corner(std::vector<CaseInput>& cases, const Variant& form) {
  for (const auto& [queries, keys] : {std::pair{2, 5}, std::pair{5, 2}}) {
    CaseInput input = build_case(
        {.name = "C28 diagonal, " + value_text(queries) + " queries, " + value_text(keys) + " keys",
         .form = form,
         .mask = MaskKind::kCausal,
         .sizes = {.seqlen_q = queries, .seqlen_kv = keys},
         .query = constant(0),
         .value = [](const ElementIndex& index, double) { return index.row; }});
    for (int query = 0; query < queries; ++query) {
      const int visible = std::max(0, query + 1 + keys - queries);
      input.expected.push_back({.first_query = query,
                                .end_query = query + 1,
                                .output = visible == 0 ? 0.0 : (visible - 1) / 2.0,
                                .log_sum_exp = std::log(visible)});
    }
    cases.push_back(std::move(input));
  }
}

/// C53: logits that are -Inf by data, in a block of keys at the start, in the middle, at the end,
/// or everywhere. V is 2 where the logit is finite.
void add_infinite_keys(std::vector<CaseInput>& cases, const Variant& form) {
  if (!has_infinity(form)) return;
  constexpr int kKeys = 256;
  struct Range {
    const char* name;
    int begin, end;
  };
  for (const Range& range : {Range{"first", 0, 130}, Range{"middle", 64, 192},
                             Range{"last", 100, kKeys}, Range{"all", 0, kKeys}}) {
    const auto inside = [range](int row) { return row >= range.begin && row < range.end; };
    const bool all = range.end - range.begin == kKeys;
    CaseInput input =
        build_case({.name = std::string("C53 logits -Inf, ") + range.name + " keys",
                    .form = form,
                    .sizes = {.heads = 2, .seqlen_q = 32, .seqlen_kv = kKeys},
                    .query = constant(1),
                    .key =
                        [inside](const ElementIndex& index, double normal) {
                          return index.column == 0 && inside(index.row) ? -kInfinity : normal;
                        },
                    .value = [inside](const ElementIndex& index,
                                      double) { return inside(index.row) ? 5.0 : 2.0; }});
    input.expected = {{.output = all ? 0.0 : 2.0}};
    if (all) input.expected[0].log_sum_exp = -kInfinity;
    cases.push_back(std::move(input));
  }
}

}  // namespace

std::vector<CaseInput> masking_cases(const Variant& form) {
  std::vector<CaseInput> cases;
  add_empty_rows(cases, form);
  add_zero_keys(cases, form);
  add_negative_logits(cases, form);
  add_bad_tails(cases, form);
  add_bad_last_key(cases, form);
  add_diagonal_corner(cases, form);
  add_infinite_keys(cases, form);
  return cases;
}

}  // namespace heddle
