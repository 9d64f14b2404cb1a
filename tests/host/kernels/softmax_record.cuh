#pragma once
// What softmax.cu takes and leaves.

constexpr int kSoftmaxRows = 16;
constexpr int kSoftmaxKeys = 32;  ///< of a block

/// Of one lane and one of its two rows, after a block.
struct SoftmaxRecord {
  float reference;
  float limit;
  float sum;      ///< the lane's share
  float output;   ///< the same of values of 1, by the factors that the blocks asked for
  float largest;  ///< the lane's largest probability of the block
  int note;       ///< of checked sums
};
