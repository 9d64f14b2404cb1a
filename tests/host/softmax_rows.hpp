#pragma once
// Rows of scores for the online softmax, and what a warp makes of 16 of them.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/host/host_compiler.hpp"
#include "tests/host/kernels/softmax_record.cuh"

namespace heddle {

constexpr int kSoftmaxBlocks = 18;

/// What is odd about a row's scores.
enum class RowKind {
  kCalm,
  kBelowZero,
  kFarBelowZero,
  kZeros,         ///< of either sign
  kZerosAtMost,   ///< -0 and numbers below
  kHiddenFirst,   ///< -inf in the first blocks
  kHidden,        ///< -inf throughout
  kInfinite,      ///< one score of +inf
  kNan,           ///< one NaN of either sign, the others around zero
  kNanBelowZero,  ///< the same, the others below
  kRising,
  kJump,     ///< up by 2 to 300 for good
  kSpike,    ///< up by 1 to 12 for a key
  kComesUp,  ///< from below zero to above
};
constexpr int kRowKinds = 14;

/// One row's scores, by block and key.
struct SoftmaxRow {
  RowKind kind;
  std::vector<float> scores;

  float score(int block, int key) const {
    return scores[static_cast<std::size_t>(block * kSoftmaxKeys + key)];
  }
};
SoftmaxRow draw_row(RowKind kind, std::uint64_t seed);
/// Of a kind that is drawn too.
SoftmaxRow draw_row(std::uint64_t seed);

using WarpRows = std::array<SoftmaxRow, kSoftmaxRows>;
WarpRows draw_rows(std::uint64_t seed);

/// What a warp has left of each of its rows after each block.
class WarpRecords {
 public:
  WarpRecords();
  SoftmaxRecord* data() { return records_.data(); }
  std::size_t bytes() const { return records_.size() * sizeof(SoftmaxRecord); }

  /// `lane` is 0 to 3: those that share the row.
  const SoftmaxRecord& at(int block, int row, int lane) const;
  /// Of all four lanes.
  double sum(int block, int row) const;
  double largest(int block, int row) const;

 private:
  std::vector<SoftmaxRecord> records_;
};

/// `entry` names one of the kernels of softmax.cu. Requires that no fault is found.
WarpRecords walk_rows(const std::string& entry, const WarpRows& rows, float scale_log2);

}  // namespace heddle
