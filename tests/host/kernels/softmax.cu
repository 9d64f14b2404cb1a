// The online softmax of a warp's 16 rows over given scores, as kernel/fa3.cuh uses it: what a block
// asks of the output comes as a factor, and an answer that nothing moved is believed.
#include "arguments.cuh"
#include "part/checked_softmax.cuh"
#include "part/softmax.cuh"
#include "softmax_record.cuh"

namespace heddle {

using Scores = Accumulator<1, kSoftmaxKeys / 8>;

/// The exact maximum of every block, and the same limits: what `follow` must leave as well.
template <int kShift>
struct EveryRowAsked : OnlineSoftmax<1, true, kShift> {
  void absorb_first(Scores& scores, Accumulator<1, 1>& output, float scale_log2) {
    float maxima[2];
    row_maximum(maxima, scores);
    this->move(maxima, output, scale_log2);
    this->exponentiate(scores, scale_log2);
  }
  bool absorb(Scores& scores, Accumulator<1, 1>& output, float scale_log2, int /*block*/) {
    absorb_first(scores, output, scale_log2);
    return true;
  }
};

/// Asks in every block whether limits are due, as kernel/fa2.cuh does.
struct DueByItself : OnlineSoftmax<1, true> {
  void settle(int blocks, int remaining) { this->settle_if_due(blocks, remaining); }
  static int settles_next(int blocks) { return blocks + 1; }
};

/// Only of a checked row.
template <class Softmax>
inline int note_of(const Softmax&, int) {
  return 0;
}
inline int note_of(const CheckedSoftmax<1>& softmax, int row) {
  return softmax.note[row];
}

template <class Softmax>
inline void walk(const KernelArguments& arguments) {
  const int blocks = arguments.numbers[0];
  const auto* given = static_cast<const float*>(arguments.pointers[0]);
  const float scale_log2 = *static_cast<const float*>(arguments.pointers[1]);
  auto* records = static_cast<SoftmaxRecord*>(arguments.pointers[2]);
  Softmax softmax;
  softmax.clear();
  float output[2] = {};
  int due = 0;
  for (int block = 0; block < blocks; ++block) {
    Scores scores;
    scores.for_each([&](int, int row, int column, float& score) {
      score = given[(block * kSoftmaxRows + row) * kSoftmaxKeys + column];
    });
    Accumulator<1, 1> factor;
    for (float& entry : factor.value[0][0]) entry = 1.0f;
    bool moved = true;
    if (block == 0) {
      softmax.absorb_first(scores, factor, scale_log2);
      due = 1;
    } else {
      if (block == due) {
        softmax.settle(block, blocks - block);
        due = softmax.settles_next(block);
      }
      moved = softmax.absorb(scores, factor, scale_log2, block);
    }
    for (int row = 0; row < 2; ++row) {
      if (moved) output[row] *= factor.value[0][0][2 * row];
      float largest = 0.0f;
      scores.for_row(row, [&](float probability) {
        output[row] += probability;
        largest = maximum(largest, probability);
      });
      records[(block * 2 + row) * kWarpSize + lane()] = {
          softmax.reference[row], softmax.limit[row], softmax.sum[row], output[row], largest,
          note_of(softmax, row)};
    }
  }
}

}  // namespace heddle

#define KERNEL(name, softmax)                                                          \
  extern "C" __global__ void name(const __grid_constant__ KernelArguments arguments) { \
    heddle::walk<softmax>(arguments);                                                  \
  }

using EveryBlock = heddle::OnlineSoftmax<1, false>;
using Lazy = heddle::OnlineSoftmax<1, true>;
using LazyOf8Bits = heddle::OnlineSoftmax<1, true, 4>;
using Asked = heddle::EveryRowAsked<0>;
using AskedOf8Bits = heddle::EveryRowAsked<4>;
using Checked = heddle::CheckedSoftmax<1>;
using Due = heddle::DueByItself;
KERNEL(every_block, EveryBlock)
KERNEL(lazy, Lazy)
KERNEL(lazy_of_8_bits, LazyOf8Bits)
KERNEL(asked, Asked)
KERNEL(asked_of_8_bits, AskedOf8Bits)
KERNEL(checked, Checked)
KERNEL(lazy_due, Due)
