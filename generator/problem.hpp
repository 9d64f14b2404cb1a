#pragma once
// WHAT is computed. A Problem has two halves: the Variant, on which a kernel's text may depend, and
// the Sizes, which only a launch depends on. emit() never sees Sizes: one cubin serves every
// length.

#include <optional>
#include <string>

#include "generator/field.hpp"
#include "generator/hash.hpp"

namespace heddle {

enum class DataType { kFp16, kBf16, kE4m3 };
enum class MaskKind { kFull, kCausal };
enum class Direction { kForward, kBackward };
enum class LengthKind { kFixed, kCuSeqlens, kSeqused };
/// What shares one factor that 8-bit elements of Q and K are multiplied by. A value's factor is its
/// head's where that of a query is finer.
enum class ScaleKind { kTensor, kHead, kBlock, kToken };
/// How V lies in memory: like K; or transposed, [batch, head, column, key], with the keys of each
/// 16 in the order that 8-bit products want (templates/warpgroup_layout.cuh, wgmma_8bit_key), whole
/// groups of 16 and one at least, zeros past the last key.
enum class ValueLayout { kRows, kTransposed };

template <>
struct EnumNames<DataType> {
  static constexpr std::array names{std::pair{DataType::kFp16, std::string_view("fp16")},
                                    std::pair{DataType::kBf16, std::string_view("bf16")},
                                    std::pair{DataType::kE4m3, std::string_view("e4m3")}};
};
template <>
struct EnumNames<MaskKind> {
  static constexpr std::array names{std::pair{MaskKind::kFull, std::string_view("full")},
                                    std::pair{MaskKind::kCausal, std::string_view("causal")}};
};
template <>
struct EnumNames<Direction> {
  static constexpr std::array names{std::pair{Direction::kForward, std::string_view("forward")},
                                    std::pair{Direction::kBackward, std::string_view("backward")}};
};
template <>
struct EnumNames<LengthKind> {
  static constexpr std::array names{
      std::pair{LengthKind::kFixed, std::string_view("fixed")},
      std::pair{LengthKind::kCuSeqlens, std::string_view("cu_seqlens")},
      std::pair{LengthKind::kSeqused, std::string_view("seqused")}};
};
template <>
struct EnumNames<ScaleKind> {
  static constexpr std::array names{std::pair{ScaleKind::kTensor, std::string_view("tensor")},
                                    std::pair{ScaleKind::kHead, std::string_view("head")},
                                    std::pair{ScaleKind::kBlock, std::string_view("block")},
                                    std::pair{ScaleKind::kToken, std::string_view("token")}};
};
template <>
struct EnumNames<ValueLayout> {
  static constexpr std::array names{
      std::pair{ValueLayout::kRows, std::string_view("rows")},
      std::pair{ValueLayout::kTransposed, std::string_view("transposed")}};
};

constexpr int element_bytes(DataType type) {
  return type == DataType::kE4m3 ? 1 : 2;
}

struct Variant {
  DataType dtype = DataType::kBf16;
  int head_dim = 128;
  MaskKind mask = MaskKind::kFull;
  /// Bytes (16, 8, 4 or 2) that divide every base address and every stride of Q, K, V and O.
  int alignment = 16;

  // Of e4m3 inputs; neutral with others.
  DataType output_dtype = DataType::kBf16;  ///< with other inputs O has their type
  ScaleKind scales = ScaleKind::kHead;
  ValueLayout value_layout = ValueLayout::kRows;

  // Neutral today; asking for one is the error 'unsupported: FIELD'.
  int head_dim_v = 0;     ///< 0 = head_dim
  int window_left = -1;   ///< keys before the diagonal that a query sees; -1 = unlimited
  int window_right = -1;  ///< keys after it; -1 = unlimited
  double softcap = 0;     ///< cap * tanh(logit / cap); 0 = none
  bool bias = false;
  bool alibi = false;
  bool sinks = false;
  std::string score_snippet;
  std::string mask_snippet;
  Direction direction = Direction::kForward;
  LengthKind lengths = LengthKind::kFixed;
  bool paged_kv = false;
  bool batch_invariant = false;

  static constexpr auto fields() {
    return std::make_tuple(
        field("dtype", &Variant::dtype, "element type of Q, K, V and O"),
        field("head_dim", &Variant::head_dim,
              "columns of Q, K, V and O: a multiple of 8 up to 256"),
        field("mask", &Variant::mask, "full, or causal aligned to the bottom-right corner"),
        field("alignment", &Variant::alignment, "bytes that divide every address and stride"),
        field("output_dtype", &Variant::output_dtype,
              "e4m3 inputs: element type of O, bf16 or fp16"),
        field("scales", &Variant::scales,
              "e4m3 inputs: what has a scale of its own: tensor, head, block (128 rows) or token"),
        field("value_layout", &Variant::value_layout,
              "e4m3 inputs: V in rows, or transposed in the order that 8-bit products want"),
        field("head_dim_v", &Variant::head_dim_v, "columns of V and O; 0 = head_dim"),
        field("window_left", &Variant::window_left, "keys before the diagonal; -1 = unlimited"),
        field("window_right", &Variant::window_right, "keys after the diagonal; -1 = unlimited"),
        field("softcap", &Variant::softcap, "cap * tanh(logit / cap); 0 = none"),
        field("bias", &Variant::bias, "additive bias"),
        field("alibi", &Variant::alibi, "linear position bias"),
        field("sinks", &Variant::sinks, "attention sinks"),
        field("score_snippet", &Variant::score_snippet, "user code applied to each logit"),
        field("mask_snippet", &Variant::mask_snippet, "user code that says which keys are visible"),
        field("direction", &Variant::direction, "forward or backward"),
        field("lengths", &Variant::lengths, "fixed, cu_seqlens or seqused"),
        field("paged_kv", &Variant::paged_kv, "K and V in pages"),
        field("batch_invariant", &Variant::batch_invariant,
              "a sequence's result does not change with its company"));
  }
  friend bool operator==(const Variant& a, const Variant& b) { return fields_equal(a, b); }
};

/// Element type of O.
constexpr DataType output_type(const Variant& variant) {
  return variant.dtype == DataType::kE4m3 ? variant.output_dtype : variant.dtype;
}

/// Strides of a [batch, head, row, column] tensor in elements; columns are contiguous.
/// All zero = contiguous in that order.
struct Strides {
  long long batch = 0;
  long long head = 0;
  long long row = 0;
  friend bool operator==(const Strides&, const Strides&) = default;
  bool is_default() const { return *this == Strides{}; }
};

struct Sizes {
  int batch = 1;
  int heads = 1;
  int kv_heads = 0;  ///< 0 = heads
  int seqlen_q = 1;
  int seqlen_kv = 1;
  double scale = 0;    ///< multiplies q·k; 0 = 1/sqrt(head_dim)
  int num_splits = 0;  ///< 0 = chosen by plan_launch; only configs with split_kv split
  Strides query_strides, key_strides, value_strides, output_strides;

  /// Strides are left out of the list: they decide neither selection nor tuning.
  static constexpr auto fields() {
    return std::make_tuple(field("batch", &Sizes::batch, "sequences"),
                           field("heads", &Sizes::heads, "query heads"),
                           field("kv_heads", &Sizes::kv_heads, "key/value heads; 0 = heads"),
                           field("seqlen_q", &Sizes::seqlen_q, "queries per sequence"),
                           field("seqlen_kv", &Sizes::seqlen_kv, "keys per sequence"),
                           field("scale", &Sizes::scale, "0 = 1/sqrt(head_dim)"),
                           field("num_splits", &Sizes::num_splits, "0 = automatic"));
  }
  int resolved_kv_heads() const { return kv_heads == 0 ? heads : kv_heads; }
  friend bool operator==(const Sizes& a, const Sizes& b) {
    return fields_equal(a, b) && a.query_strides == b.query_strides &&
           a.key_strides == b.key_strides && a.value_strides == b.value_strides &&
           a.output_strides == b.output_strides;
  }
};

struct Problem {
  Variant variant;
  Sizes sizes;
  friend bool operator==(const Problem&, const Problem&) = default;
};

template <class Struct>
Hash128 canonical_hash(const Struct& object) {
  return hash_text(canonical_text(object));
}

/// What is wrong with a value, and what to do about it.
struct Rejection {
  std::string field;
  std::string reason;
  bool unsupported = false;  ///< valid, but not (yet) honoured
};

/// Whether the problem itself makes sense and is supported, whatever the kernel.
/// An empty problem (batch, heads or seqlen_q of 0) is valid: nothing is launched.
std::optional<Rejection> reject_problem(const Problem& problem);
/// The same for the variant alone.
std::optional<Rejection> reject_variant(const Variant& variant);

/// Throws kInvalidArgument or kUnsupported for a rejection.
void require(const std::optional<Rejection>& rejection);

/// Strides with the contiguous default filled in.
Strides resolved_strides(const Strides& strides, int heads, int rows, int columns);
/// Rows and columns of a head of V as it lies in memory.
struct MatrixExtent {
  int rows = 0;
  int columns = 0;
};
MatrixExtent value_extent(const Problem& problem);
/// The scale a launch multiplies with.
double resolved_scale(const Variant& variant, const Sizes& sizes);
/// True when there is nothing to compute (batch, heads or seqlen_q is 0).
bool is_empty(const Sizes& sizes);
/// 4·b·h·sq·skv·d floating-point operations, counting only visible (query, key) pairs.
double flop_count(const Problem& problem);
/// Bytes of Q, K, V read once and O written once.
double minimal_bytes(const Problem& problem);

}  // namespace heddle
