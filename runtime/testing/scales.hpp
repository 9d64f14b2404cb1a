#pragma once
// Which factor belongs to which row of 8-bit inputs.

#include <cstddef>
#include <string_view>
#include <vector>

#include "runtime/testing/reference.hpp"

namespace heddle {

/// The factors of one tensor: by `kind` one in all, or [batch, heads], the same by blocks of 128
/// rows, or by rows.
struct ScaleShape {
  ScaleKind kind = ScaleKind::kHead;
  int batch = 0;
  int heads = 0;
  int rows = 0;

  std::size_t count() const;
  std::size_t index(long long batch_index, long long head, long long row) const;
  /// "[batch, heads, blocks of 128 queries]": what an error message says.
  std::string text() const;

 private:
  long long per_head() const;
};

ScaleShape query_scale_shape(const Problem& problem);
ScaleShape key_scale_shape(const Problem& problem);
ScaleShape value_scale_shape(const Problem& problem);

/// One of HostScales' vectors: its name, and what it must have unless it is empty.
struct ScaleField {
  std::string_view name;
  std::vector<float> HostScales::*values;
  std::size_t count = 0;
  std::string shape;  ///< in words
};
std::vector<ScaleField> scale_fields(const Problem& problem);

/// Throws kInvalidArgument for a vector of another length than the problem says, and for any at all
/// beside 16-bit inputs.
void check_scales(const Problem& problem, const HostScales& scales);

/// The factor at `index`; 1 where there are none.
inline float factor_at(const std::vector<float>& factors, std::size_t index) {
  return factors.empty() ? 1.0f : factors[index];
}

}  // namespace heddle
