#include "runtime/host/matrix_operand.hpp"

namespace heddle {
namespace {

struct Fields {
  unsigned start, leading, stride, base_offset, span, mask;
};

Fields decode(unsigned long long bits) {
  constexpr unsigned kSpans[] = {16, 128, 64, 32};  // by mode: none, 128 B, 64 B, 32 B
  constexpr unsigned kMasks[] = {0, 7, 3, 1};
  const auto field = [&](int at) { return static_cast<unsigned>(bits >> at & 0x3fffu) << 4; };
  const auto mode = static_cast<unsigned>(bits >> 62);
  return {field(0),     field(16),   field(32), static_cast<unsigned>(bits >> 49 & 7u),
          kSpans[mode], kMasks[mode]};
}

/// The hardware exchanges chunks by address bits, counted from where the pattern begins.
unsigned exchange(unsigned address, const Fields& fields) {
  const unsigned row = (address >> 7) - fields.base_offset;
  return address ^ ((row & fields.mask) << 4);
}

}  // namespace

std::vector<unsigned> operand_chunks(const OperandSlice& slice) {
  const Fields fields = decode(slice.descriptor);
  const bool plain = fields.span == 16;
  std::vector<unsigned> chunks;
  const auto add = [&](unsigned offset) {
    chunks.push_back(exchange(fields.start + offset, fields));
  };
  if (!slice.transposed) {
    for (int i = slice.first_row; i < slice.first_row + slice.rows; ++i) {
      const auto row = static_cast<unsigned>(i);
      const unsigned offset = row / 8 * fields.stride + row % 8 * fields.span;
      add(offset);
      add(offset + (plain ? fields.leading : 16));
    }
    return chunks;
  }
  for (unsigned k = 0; k < 16; ++k) {
    for (int i = slice.first_row; i < slice.first_row + slice.rows; i += 8) {
      const auto row = static_cast<unsigned>(i);
      const unsigned bytes = 2 * row;
      add(plain ? row / 8 * fields.stride + k / 8 * fields.leading + k % 8 * 16
                : bytes / fields.span * fields.leading + bytes % fields.span +
                      k / 8 * fields.stride + k % 8 * fields.span);
    }
  }
  return chunks;
}

}  // namespace heddle
