#pragma once
// Kernels whose warps are late: the emitted text with a sleep put in.

#include <cstdint>

#include "generator/emit.hpp"

namespace heddle {

struct AttentionParameters;

/// Every warp sleeps for a time of its own where the kernel begins (by seed, block and warp), and
/// now and then behind a barrier of the block (by the clock): fa3's roles begin behind one.
/// Throws kInternal where the text has no place for it.
KernelSource with_delays(KernelSource source);

/// The seed travels in a field that kernels do not read yet. 0 = no sleep at the beginning.
AttentionParameters with_seed(AttentionParameters parameters, std::uint32_t seed);

}  // namespace heddle
