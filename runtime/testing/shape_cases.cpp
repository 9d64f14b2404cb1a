// Cases about head counts, head dims and strides, and the kinds of random input.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "runtime/testing/case_builder.hpp"

namespace heddle {
namespace {

/// With V the same in all columns, P's rounding errs alike in all of them: too few errors to judge
/// e4m3 by. There logits are whole numbers of ln 2, one per query and key, and P is exact.
void make_exact(CaseRecipe& recipe) {
  recipe.sizes.scale = std::numbers::ln2;
  recipe.query = [](const ElementIndex& index, double) {
    return index.row % 64 == index.column ? 1.0 : 0.0;
  };
  recipe.key = [](const ElementIndex&, double normal) {
    return -std::floor(std::min(3.0, 1.5 * std::abs(normal)));
  };
}

/// C33: query head h reads KV head h / (heads / kv_heads); V says which one was read.
void add_head_ratios(std::vector<CaseInput>& cases, const Variant& form) {
  for (const auto& [heads, kv_heads] :
       {std::pair{7, 1}, std::pair{14, 2}, std::pair{5, 1}, std::pair{12, 4}, std::pair{16, 1},
        std::pair{32, 2}, std::pair{64, 1}, std::pair{71, 1}}) {
    for (const int queries : {1, 3, 88}) {
      CaseRecipe recipe{
          .name = "C33 heads " + value_text(heads) + "/" + value_text(kv_heads) + ", queries " +
                  value_text(queries),
          .form = form,
          .mask = MaskKind::kCausal,
          .sizes = {.heads = heads, .kv_heads = kv_heads, .seqlen_q = queries, .seqlen_kv = 200},
          .value = [](const ElementIndex& index, double) { return index.head + 1; }};
      if (form.dtype == DataType::kE4m3) make_exact(recipe);
      CaseInput input = build_case(recipe);
      for (int head = 0; head < heads; ++head) {
        input.expected.push_back(
            {.head = head, .output = head / (heads / kv_heads) + 1.0, .log_sum_exp = std::nullopt});
      }
      cases.push_back(std::move(input));
    }
  }
}

/// C31: every head dim class, powers of two or not.
void add_head_dims(std::vector<CaseInput>& cases, const Variant& form) {
  for (const int head_dim :
       {8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 160, 192, 224, 256}) {
    if (form.dtype == DataType::kE4m3 && head_dim % 32 != 0) continue;
    cases.push_back(build_case({.name = "C31 head_dim " + value_text(head_dim),
                                .form = form,
                                .head_dim = head_dim,
                                .mask = MaskKind::kCausal,
                                .sizes = {.heads = 2, .seqlen_q = 67, .seqlen_kv = 131}}));
  }
}

struct Layouts {
  Layout query, key, value, output;
};

CaseInput lay_out(const CaseInput& contiguous, const Layouts& layouts) {
  CaseInput input = contiguous;
  Sizes& sizes = input.problem.sizes;
  const TensorShape queries = query_shape(input.problem);
  const TensorShape keys = key_value_shape(input.problem);
  sizes.query_strides = layout_strides(layouts.query, queries);
  sizes.key_strides = layout_strides(layouts.key, keys);
  sizes.value_strides = layout_strides(layouts.value, value_shape(input.problem));
  sizes.output_strides = layout_strides(layouts.output, queries);
  input.problem.variant.alignment = stride_alignment(input.problem);
  input.tensors = scatter_inputs(input.problem, contiguous.tensors);
  for (const Layout layout : {layouts.query, layouts.key, layouts.value, layouts.output}) {
    input.name += " " + std::string(enum_name(layout));
  }
  return input;
}

/// C21: Q, K, V and O each in a layout of its own; all hold the values of the contiguous case.
void add_layouts(std::vector<CaseInput>& cases, const Variant& form) {
  CaseInput base =
      build_case({.name = "C21 layouts Q K V O:",
                  .form = form,
                  .sizes = {.batch = 2, .heads = 3, .seqlen_q = 130, .seqlen_kv = 130}});
  for (int mix = 0; mix < 16; ++mix) {
    const auto pick = [mix](int bit) {
      return (mix >> bit) & 1 ? Layout::kBatchRowHead : Layout::kBatchHeadRow;
    };
    cases.push_back(lay_out(base, {pick(3), pick(2), pick(1), pick(0)}));
  }
  cases.push_back(lay_out(base, {Layout::kBatchHeadRow, Layout::kEverySecondRow,
                                 Layout::kBatchRowHead, Layout::kBatchRowHead}));
  if (form.dtype == DataType::kE4m3) return;  // no class has an alignment of one byte
  cases.push_back(lay_out(base, {Layout::kOddPitch, Layout::kEverySecondRow, Layout::kOddPitch,
                                 Layout::kEverySecondRow}));
  cases.push_back(
      lay_out(base, {Layout::kOddPitch, Layout::kOddPitch, Layout::kOddPitch, Layout::kOddPitch}));
}

void add_input_kinds(std::vector<CaseInput>& cases, const Variant& form) {
  for (const auto& [kind, name] : EnumNames<InputKind>::names) {
    for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
      CaseInput input;
      input.name = "inputs " + std::string(name) + ", " + std::string(enum_name(mask));
      input.problem.variant = form;
      input.problem.variant.head_dim = 64;
      input.problem.variant.mask = mask;
      input.problem.sizes = {.heads = 4, .kv_heads = 2, .seqlen_q = 97, .seqlen_kv = 321};
      if (kind == InputKind::kExact) input.problem.sizes.scale = std::numbers::ln2;
      input.tensors = make_inputs(input.problem, kind, 7);
      cases.push_back(std::move(input));
    }
  }
}

}  // namespace

std::vector<CaseInput> shape_cases(const Variant& form) {
  std::vector<CaseInput> cases;
  add_head_ratios(cases, form);
  add_head_dims(cases, form);
  add_layouts(cases, form);
  add_input_kinds(cases, form);
  return cases;
}

}  // namespace heddle
