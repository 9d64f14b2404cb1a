// Cases about the size of logits and about NaN and Inf that rows do see.

#include <cmath>

#include "runtime/testing/case_builder.hpp"
#include "runtime/testing/element.hpp"

namespace heddle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double eighths(int row) {
  return (row % 8) / 8.0;
}

const Adjust kValueInEighths = [](const ElementIndex& index, double) { return eighths(index.row); };

double mean_of_eighths(int begin, int end) {
  double sum = 0;
  for (int row = begin; row < end; ++row) sum += eighths(row);
  return sum / (end - begin);
}

/// C11: logits far below any finite stand-in for -inf.
void add_huge_negative_logits(std::vector<CaseInput>& cases, const Variant& form) {
  const CaseRecipe base{.name = "C11 logits of -2.27 million",
                        .form = form,
                        .head_dim = 128,
                        .sizes = {.seqlen_q = 4, .seqlen_kv = 64},
                        .query = constant(448),
                        .key = constant(-448),
                        .value = kValueInEighths};
  CaseRecipe one_column = base;
  one_column.name = "C11 logits of -17740";
  one_column.query = first_column([](int) { return 448.0; });
  one_column.key = first_column([](int) { return -448.0; });
  for (const auto& [recipe, columns] : {std::pair{base, 128}, std::pair{one_column, 1}}) {
    CaseInput input = build_case(recipe);
    const double logit = -448.0 * 448.0 * columns / std::sqrt(128.0);
    input.expected = {{.output = 0.4375, .log_sum_exp = logit + std::log(64)}};
    cases.push_back(std::move(input));
  }
}

/// C29: raw products beyond fp16's range although the logits are moderate.
void add_large_logits(std::vector<CaseInput>& cases, const Variant& form) {
  constexpr int kKeys = 33;
  const double logit = 32.0 * 32.0 * 128 / std::sqrt(128.0);
  CaseRecipe recipe{.name = "C29 raw products of 131072",
                    .form = form,
                    .head_dim = 128,
                    .sizes = {.seqlen_q = 5, .seqlen_kv = kKeys},
                    .query = constant(32),
                    .key = constant(32),
                    .value = kValueInEighths};
  CaseInput equal = build_case(recipe);
  equal.expected = {{.output = mean_of_eighths(0, kKeys), .log_sum_exp = logit + std::log(kKeys)}};
  cases.push_back(std::move(equal));

  recipe.name = "C29 one key of the opposite sign";
  recipe.key = [](const ElementIndex& index, double) { return index.row == 0 ? -32.0 : 32.0; };
  CaseInput opposite = build_case(recipe);
  opposite.expected = {
      {.output = mean_of_eighths(1, kKeys), .log_sum_exp = logit + std::log(kKeys - 1)}};
  cases.push_back(std::move(opposite));

  const double large = round_to_element(form.dtype, 100);  // e4m3 has 96
  CaseInput spread = build_case(
      {.name = "C29 logits 1e4, 0 and -1e4 in one row",
       .form = form,
       .sizes = {.seqlen_q = 2, .seqlen_kv = 3, .scale = 1},
       .query = first_column([large](int) { return large; }),
       .key = first_column([large](int row) { return large * (1 - row); }),
       .value = [](const ElementIndex& index, double) { return index.row == 0 ? 0.75 : 500.0; }});
  spread.expected = {{.output = 0.75, .log_sum_exp = large * large}};
  cases.push_back(std::move(spread));
}

/// C54: LSE is a natural logarithm, taken after the scale.
void add_log_base(std::vector<CaseInput>& cases, const Variant& form) {
  for (const double logit : {0.0, 3.0}) {
    CaseInput input = build_case({.name = "C54 eight logits of " + value_text(logit),
                                  .form = form,
                                  .sizes = {.seqlen_q = 70, .seqlen_kv = 8, .scale = 1},
                                  .query = first_column([logit](int) { return logit; }),
                                  .key = first_column([](int) { return 1.0; }),
                                  .value = constant(0.5)});
    input.expected = {{.output = 0.5, .log_sum_exp = logit + std::log(8)}};
    cases.push_back(std::move(input));
  }
}

CaseRecipe square_130(const char* name, const Variant& form) {
  return {.name = name, .form = form, .sizes = {.heads = 2, .seqlen_q = 130, .seqlen_kv = 130}};
}

Adjust replace(int row, int column, double bad) {
  return [=](const ElementIndex& index, double normal) {
    return index.row == row && index.column == column ? bad : normal;
  };
}

/// C78: a NaN that a maximum would swallow, and a logit of +Inf.
void add_hidden_nan(std::vector<CaseInput>& cases, const Variant& form) {
  CaseInput query = build_with_clean_twin(square_130("C78 NaN in one query", form),
                                          {.name = "", .form = form, .query = replace(5, 0, kNan)});
  query.expected = {{.first_query = 5, .end_query = 6, .output = kNan, .log_sum_exp = kNan}};
  cases.push_back(std::move(query));

  CaseInput key = build_with_clean_twin(square_130("C78 NaN in one key", form),
                                        {.name = "", .form = form, .key = replace(7, 3, kNan)});
  key.expected = {{.output = kNan, .log_sum_exp = kNan}};
  cases.push_back(std::move(key));

  if (!has_infinity(form)) return;
  // Even rows meet the infinite key with a positive number, odd rows with a negative one.
  CaseRecipe recipe = square_130("C78 +Inf in one key", form);
  recipe.query = [](const ElementIndex& index, double normal) {
    if (index.column != 0) return normal;
    return index.row % 2 == 0 ? std::abs(normal) + 0.5 : -std::abs(normal) - 0.5;
  };
  recipe.key = replace(7, 0, kInfinity);
  CaseInput infinite = build_case(recipe);
  for (int row = 0; row < 130; row += 2) {
    infinite.expected.push_back(
        {.first_query = row, .end_query = row + 1, .output = kNan, .log_sum_exp = kNan});
  }
  cases.push_back(std::move(infinite));
}

/// NaN and Inf in a row of V that every query sees: one column is lost, the others are not.
void add_visible_values(std::vector<CaseInput>& cases, const Variant& form) {
  for (const auto& [name, bad] :
       {std::pair{"NaN", kNan}, std::pair{"+Inf", kInfinity}, std::pair{"-Inf", -kInfinity}}) {
    if (std::isinf(bad) && !has_infinity(form)) continue;
    cases.push_back(
        build_with_clean_twin(square_130((std::string("visible ") + name + " in V").c_str(), form),
                              {.name = "", .form = form, .value = replace(9, 2, bad)}));
  }
  // Logit -1e4 against 0: p is 0 in every precision, and 0 * NaN is NaN.
  cases.push_back(build_case({.name = "visible NaN in V where p underflows",
                              .form = form,
                              .sizes = {.seqlen_q = 4, .seqlen_kv = 70, .scale = 1},
                              .query = first_column([](int) { return 100.0; }),
                              .key = first_column([](int row) { return row == 3 ? -100.0 : 0.0; }),
                              .value = replace(3, 2, kNan)}));
  // The same where a split holds nothing but such keys, so that its whole weight is 0.
  cases.push_back(build_case({.name = "visible NaN in V where the weight of a split underflows",
                              .form = form,
                              .sizes = {.seqlen_q = 4, .seqlen_kv = 128, .scale = 1},
                              .query = first_column([](int) { return 100.0; }),
                              .key = first_column([](int row) { return row < 64 ? 0.0 : -100.0; }),
                              .value = replace(127, 2, kNan)}));
}

}  // namespace

std::vector<CaseInput> numerics_cases(const Variant& form) {
  std::vector<CaseInput> cases;
  add_huge_negative_logits(cases, form);
  add_large_logits(cases, form);
  add_log_base(cases, form);
  add_hidden_nan(cases, form);
  add_visible_values(cases, form);
  return cases;
}

}  // namespace heddle
