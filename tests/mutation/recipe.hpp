#pragma once
// How a small problem is put together: what differs from the plain one, and the rest by default.

#include <string>
#include <vector>

#include "runtime/testing/inputs.hpp"
#include "tests/mutation/problems.hpp"

namespace heddle::mutation {

struct Recipe {
  std::string name;
  KernelConfig config;
  DataType dtype = DataType::kBf16;
  int head_dim = 32;
  MaskKind mask = MaskKind::kCausal;
  int seqlen_q = 45;
  int seqlen_kv = 78;  ///< the last query of a tile sees one key of the last block
  int batch = 2;
  int heads = 4;
  int kv_heads = 2;
  int num_splits = 0;
  double logit_factor = 1;  ///< on the scale
  double scale = 0;         ///< 0 = logit_factor / sqrt(head_dim)
  int alignment = 16;       ///< every stride is an odd multiple of it
  InputKind inputs = InputKind::kNormal;
  double rise = kDefaultRise;
  int bad_values = 0;  ///< the last keys' values are not finite
  bool dense = false;  ///< of those keys, one value in each 16 bytes
  Hook hook = Hook::kNone;
  int multiprocessors = 0;  ///< 0 = as many as the device has
  bool small_cache = false;
  /// No row sums up to 8 of its largest probability: the lazy maximum is as good as the exact one.
  bool dominated = false;
  /// If not 0, logits are exact in fp32, of a scale that is a power of two: of every four queries
  /// one keeps them, one has this much added, one has it taken away, one has all of them 0.
  double offset = 0;
  /// If not 0, how much larger the logits of the first keys are, which fa3 meets last: in even
  /// heads for the upper half of each 16 queries, in odd heads for the lower half; or for all.
  double late = 0;
  bool all_late = false;
  bool below_zero = false;   ///< no entry of Q is negative, and none of K positive
  bool shared_keys = false;  ///< heads share K and sequences share V, by stride 0
  // e4m3 inputs.
  ScaleKind scales = ScaleKind::kHead;
  ValueLayout value_layout = ValueLayout::kRows;
  DataType output_dtype = DataType::kBf16;
  bool means = false;  ///< were taken off V and K
};

SmallProblem make(const Recipe& recipe);

inline Recipe with(Recipe recipe, void (*change)(Recipe&)) {
  change(recipe);
  return recipe;
}

using Problems = std::vector<SmallProblem>;

void add_fa2(Problems& list);
/// Rows that are worked out again, exactly (part/exact_rows.cuh).
void add_fa2_large(Problems& list);
void add_fa1_large(Problems& list);
void add_fa3_large(Problems& list);
void add_fa1(Problems& list);
void add_fa3(Problems& list);
void add_checked_sums(Problems& list);
void add_lazy(Problems& list);
void add_fa3_switches(Problems& list);  ///< products and loads that do not run beside each other
void add_fa3_decode(Problems& list);
void add_fp8(Problems& list);
void add_unfused(Problems& list);
void add_reference(Problems& list);

}  // namespace heddle::mutation
