#pragma once
// Registers per thread that a part's tiles take: exact, from the layouts of mma.m16n8k16 and wgmma.

#include "generator/kernel_part.hpp"

namespace heddle {

/// Of the thread's share of each tile, as 32-bit registers.
struct Fragments {
  int output = 0;         ///< O, fp32
  int scores = 0;         ///< S, fp32, and chains that are still to be added
  int query = 0;          ///< Q as an operand
  int probabilities = 0;  ///< P as an operand, where it stands beside S
  int partial = 0;        ///< fa1: a product that is about to be exchanged

  int total() const { return output + scores + query + probabilities + partial; }
};

/// Zero for parts that multiply no tiles.
Fragments fragments_of(const Variant& variant, const KernelConfig& config, KernelPart part);

}  // namespace heddle
