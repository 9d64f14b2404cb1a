#include "runtime/testing/scales.hpp"

#include "templates/warpgroup_layout.cuh"

namespace heddle {

long long ScaleShape::per_head() const {
  if (kind == ScaleKind::kBlock) return (rows + kScaleBlockRows - 1LL) / kScaleBlockRows;
  return kind == ScaleKind::kToken ? rows : 1;
}

std::size_t ScaleShape::count() const {
  if (kind == ScaleKind::kTensor) return 1;
  return static_cast<std::size_t>(per_head() * batch * heads);
}

std::size_t ScaleShape::index(long long batch_index, long long head, long long row) const {
  if (kind == ScaleKind::kTensor) return 0;
  const long long within = kind == ScaleKind::kBlock   ? row / kScaleBlockRows
                           : kind == ScaleKind::kToken ? row
                                                       : 0;
  return static_cast<std::size_t>((batch_index * heads + head) * per_head() + within);
}

std::string ScaleShape::text() const {
  if (kind == ScaleKind::kTensor) return "[1]";
  const std::string by_head = "[" + value_text(batch) + ", " + value_text(heads);
  if (kind == ScaleKind::kHead) return by_head + "]";
  return by_head + ", " + value_text(per_head()) + "]";
}

ScaleShape query_scale_shape(const Problem& problem) {
  const Sizes& sizes = problem.sizes;
  return {problem.variant.scales, sizes.batch, sizes.heads, sizes.seqlen_q};
}

ScaleShape key_scale_shape(const Problem& problem) {
  const Sizes& sizes = problem.sizes;
  return {problem.variant.scales, sizes.batch, sizes.resolved_kv_heads(), sizes.seqlen_kv};
}

ScaleShape value_scale_shape(const Problem& problem) {
  ScaleShape shape = key_scale_shape(problem);
  if (shape.kind != ScaleKind::kTensor) shape.kind = ScaleKind::kHead;
  return shape;
}

std::vector<ScaleField> scale_fields(const Problem& problem) {
  const Sizes& sizes = problem.sizes;
  const int kv_heads = sizes.resolved_kv_heads();
  const auto by_shape = [](std::string_view name, std::vector<float> HostScales::*values,
                           const ScaleShape& shape) {
    return ScaleField{name, values, shape.count(), shape.text()};
  };
  // Both are by rows of something: [batch, heads, rows] factors have that shape.
  const ScaleShape means{ScaleKind::kToken, sizes.batch, kv_heads, problem.variant.head_dim};
  const ScaleShape shifts{ScaleKind::kToken, sizes.batch, sizes.heads, sizes.seqlen_q};
  return {by_shape("query_descale", &HostScales::query_descale, query_scale_shape(problem)),
          by_shape("key_descale", &HostScales::key_descale, key_scale_shape(problem)),
          by_shape("value_descale", &HostScales::value_descale, value_scale_shape(problem)),
          by_shape("value_mean", &HostScales::value_mean, means),
          by_shape("log_sum_exp_shift", &HostScales::log_sum_exp_shift, shifts)};
}

void check_scales(const Problem& problem, const HostScales& scales) {
  for (const ScaleField& field : scale_fields(problem)) {
    const std::size_t given = (scales.*field.values).size();
    if (given == 0) continue;
    const std::string name(field.name);
    const std::string text = name + ": " + std::to_string(given) + " numbers, ";
    if (problem.variant.dtype != DataType::kE4m3) {
      throw Error(ErrorCode::kInvalidArgument, name,
                  text + "but only e4m3 inputs have any, not " + value_text(problem.variant.dtype) +
                      "; leave it out");
    }
    if (given == field.count) continue;
    throw Error(ErrorCode::kInvalidArgument, name,
                text + "but scales=" + value_text(problem.variant.scales) +
                    " and the problem's sizes want " + std::to_string(field.count) + ", " +
                    field.shape);
  }
}

}  // namespace heddle
