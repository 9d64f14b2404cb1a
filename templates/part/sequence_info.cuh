#pragma once
// Lengths of one batch entry. Kernels learn lengths from here alone.

#include "parameters.cuh"

namespace heddle {

struct SequenceInfo {
  int query_length;
  int key_length;

  SequenceInfo(const AttentionParameters& parameters, int /*batch*/)
      : query_length(parameters.seqlen_q), key_length(parameters.seqlen_kv) {}

  /// Bottom-right causal: query i sees the keys j <= i + diagonal().
  int diagonal() const { return key_length - query_length; }

  /// How many keys a causal query row sees (they are the first ones).
  int causal_keys(int query) const {
    const int keys = query + diagonal() + 1;
    return keys < 0 ? 0 : (keys < key_length ? keys : key_length);
  }
};

/// First element of a row of a [batch, head, row, column] tensor.
template <class Element>
inline Element* tensor_row(const TensorView& view, long long batch, long long head, long long row) {
  return static_cast<Element*>(view.data) + batch * view.batch_stride + head * view.head_stride +
         row * view.row_stride;
}

/// Index of a query row among all of [batch, heads, seqlen_q].
inline long long flat_row(const AttentionParameters& parameters, int batch, int head, int query) {
  const long long flat_head = static_cast<long long>(batch) * parameters.heads + head;
  return flat_head * parameters.seqlen_q + query;
}

/// The same among what all splits leave of all rows.
inline long long partial_row(const AttentionParameters& parameters, int split, int batch, int head,
                             int query) {
  return split * flat_row(parameters, parameters.batch, 0, 0) +
         flat_row(parameters, batch, head, query);
}

}  // namespace heddle
