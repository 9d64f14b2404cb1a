#pragma once
// What the references read: elements as numbers, wherever they lie, and the scales beside them.

#include <algorithm>
#include <cstddef>

#include "runtime/testing/element.hpp"
#include "runtime/testing/layout.hpp"
#include "runtime/testing/reference.hpp"
#include "runtime/testing/scales.hpp"
#include "templates/warpgroup_layout.cuh"
#include "templates/wgmma_fragment.cuh"

namespace heddle {

class ReferenceInputs {
 public:
  /// Throws kInvalidArgument for a tensor that is shorter than its strides reach, or scales of
  /// another length than the problem says.
  ReferenceInputs(const Problem& problem, const HostTensors& tensors);

  const Problem& problem() const { return problem_; }

  // Elements, without their scales. Real is float or double, both of which hold them exactly.

  template <class Real>
  void read_query(long long batch, long long head, long long row, Real* to) const {
    read(query_.row(batch, head, row), to, 1);
  }
  /// One element in `step` of `to`.
  template <class Real>
  void read_key(long long batch, long long head, long long row, Real* to, int step) const {
    read(key_.row(batch, head, row), to, step);
  }
  /// Keys from `begin`, a multiple of 16, on as rows `stride` apart.
  template <class Real>
  void read_values(long long batch, long long head, int begin, int count, Real* to,
                   int stride) const {
    if (problem_.variant.value_layout == ValueLayout::kRows) {
      for (int key = 0; key < count; ++key) {
        read(value_.row(batch, head, begin + key), to + static_cast<std::ptrdiff_t>(key) * stride,
             1);
      }
      return;
    }
    const int end = std::min(begin + (count + kKeyGroup - 1) / kKeyGroup * kKeyGroup,
                             value_extent(problem_).columns);
    for (int column = 0; column < problem_.variant.head_dim; ++column) {
      const std::uint16_t* from = value_.row(batch, head, column);
      for (int position = begin; position < end; ++position) {
        const int key = wgmma_8bit_key(position) - begin;
        if (key < count)
          to[static_cast<std::ptrdiff_t>(key) * stride + column] = number<Real>(from[position]);
      }
    }
  }

  float query_scale(long long batch, long long head, long long row) const {
    return factor_at(scales_.query_descale, query_scales_.index(batch, head, row));
  }
  float key_scale(long long batch, long long head, long long row) const {
    return factor_at(scales_.key_descale, key_scales_.index(batch, head, row));
  }
  float value_scale(long long batch, long long head) const {
    return factor_at(scales_.value_descale, value_scales_.index(batch, head, 0));
  }
  float value_mean(long long batch, long long head, int column) const {
    if (scales_.value_mean.empty()) return 0;
    const long long row = batch * problem_.sizes.resolved_kv_heads() + head;
    return scales_.value_mean[static_cast<std::size_t>(row * problem_.variant.head_dim + column)];
  }
  /// `row` counts those of all heads.
  float log_sum_exp_shift(long long row) const {
    return scales_.log_sum_exp_shift.empty()
               ? 0
               : scales_.log_sum_exp_shift[static_cast<std::size_t>(row)];
  }

 private:
  struct View {
    const std::uint16_t* data;
    Strides strides;

    const std::uint16_t* row(long long batch, long long head, long long index) const {
      return data + batch * strides.batch + head * strides.head + index * strides.row;
    }
  };
  static View view(const std::vector<std::uint16_t>& storage, const Strides& strides,
                   const TensorShape& shape, const char* name);

  template <class Real>
  Real number(std::uint16_t bits) const {
    return static_cast<Real>(element_to_float(problem_.variant.dtype, bits));
  }
  template <class Real>
  void read(const std::uint16_t* from, Real* to, int step) const {
    for (int column = 0; column < problem_.variant.head_dim; ++column) {
      to[static_cast<std::ptrdiff_t>(column) * step] = number<Real>(from[column]);
    }
  }

  const Problem& problem_;
  View query_, key_, value_;
  const HostScales& scales_;
  ScaleShape query_scales_, key_scales_, value_scales_;
};

}  // namespace heddle
