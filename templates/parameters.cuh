#pragma once
// The one layout that host and device share: plain structs, no header beyond this one, so that
// NVRTC, the host's compiler and clangd all read it alike.

namespace heddle {

/// A 4-D tensor [batch, head, row, column] whose columns are contiguous. Strides count elements.
struct TensorView {
  void* data;
  long long batch_stride;
  long long head_stride;
  long long row_stride;
};

/// What a split leaves of a row besides its output.
struct PartialRow {
  float base;     ///< in log2 units, near the largest logit; -inf if the row saw no key
  float residue;  ///< what rounding took from the base, where probabilities are exact without
  float sum;      ///< of 2^(logit - base - residue), logits in log2 units
};

/// Everything a launch knows and a kernel's text does not. Passed by value as the only argument.
struct AttentionParameters {
  TensorView query;   ///< [batch, heads, seqlen_q, head_dim]
  TensorView key;     ///< [batch, kv_heads, seqlen_kv, head_dim]
  TensorView value;   ///< [batch, kv_heads, seqlen_kv, head_dim]
  TensorView output;  ///< [batch, heads, seqlen_q, head_dim]
  /// Natural logarithm of the row's sum of exp(scale * s), fp32 [batch, heads, seqlen_q],
  /// contiguous; null = not wanted.
  float* log_sum_exp;

  int batch;
  int heads;
  int kv_heads;
  int seqlen_q;
  int seqlen_kv;
  int query_tiles;  ///< ceil(seqlen_q / tile_queries) of the kernel launched
  /// Heads that share a tile's rows, and queries of each in it: 1 and tile_m unless a kernel packs
  /// heads (part/packed_rows.cuh).
  int packed_heads;
  int tile_queries;

  float scale;       ///< multiplies q·k; > 0
  float scale_log2;  ///< scale * log2(e)
  /// What rounding added to it, of the scale before that was rounded itself: scale_log2 / (scale *
  /// log2(e)) - 1, at most 2^-24 either way.
  float scale_log2_excess;

  /// Split-KV: split i of num_splits owns key tiles [i * split_tiles, (i + 1) * split_tiles).
  int num_splits;
  int split_tiles;
  /// fp32 partial outputs, each normalised, [num_splits, batch, heads, seqlen_q, head_dim], and
  /// what their rows weigh [num_splits, batch, heads, seqlen_q]; null when the kernel does not
  /// split.
  float* partial_output;
  PartialRow* partial_rows;

  /// Unfused only: fp32 scores [batch, heads, seqlen_q, score_pitch]. The softmax kernel writes
  /// each row of probabilities (Element) over the front of its own row of scores.
  float* scores;
  long long score_pitch;

  /// What blocks draw their next tile from: 0 before a launch and after it; null = by turns.
  unsigned* tile_counter;

  // Absent (null) until the features that read them exist.
  const int* cu_seqlens_q;
  const int* cu_seqlens_kv;
  const int* seqused_kv;
  const int* page_table;
  const void* bias;
  const float* alibi_slopes;
  const float* sinks;

  // 8-bit inputs; null = 1, or nothing to add.
  const float* query_descale;  ///< elements times these are Q; part/descale.cuh has their shapes
  const float* key_descale;
  const float* value_descale;
  const float* value_mean;         ///< [batch, kv_heads, head_dim]: added to O
  const float* log_sum_exp_shift;  ///< [batch, heads, seqlen_q]: added to the log-sum-exp
};

/// Where a logit sits; what score and mask hooks are told.
struct ScorePosition {
  int batch;
  int head;
  int query;
  int key;
};

}  // namespace heddle
