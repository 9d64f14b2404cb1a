#pragma once
// What the generator and warp-specialised kernels both have to know of registers and shared memory.
// Plain constexpr arithmetic: no thread, no device.

namespace heddle {

constexpr int kWarpgroupWarps = 4;
constexpr int kWarpgroupRows = 64;   ///< of a wgmma's result
constexpr int kBoxColumns = 64;      ///< 16-bit columns of a TMA box: 128 bytes, the widest swizzle
constexpr int kTmaAlignment = 1024;  ///< of a tile in shared memory
constexpr int kBarrierBytes = 8;
/// Keys that transposed 8-bit values have in an order of their own (wgmma_8bit_key).
constexpr int kKeyGroup = 16;
/// Value blocks of 8 bits that have come in rows and wait to be transposed.
constexpr int kRawSlots = 2;
/// Rows of Q or K that share a block's scale.
constexpr int kScaleBlockRows = 128;
/// Warps of the producer's warpgroup that look at masked values.
constexpr int kGuardWarps = 3;

/// Bytes of a row of Q, K or V in shared memory, whole boxes.
constexpr int tma_row_bytes(int padded_head_dim) {
  return (padded_head_dim + kBoxColumns - 1) / kBoxColumns * kBoxColumns * 2;
}
/// The same of 8-bit elements, and of transposed values (by keys): whole 32-byte steps of products.
/// A box is as wide as the widest swizzle of which a whole number fills the row.
constexpr int byte_box_columns(int row_bytes) {
  if (row_bytes % 128 == 0) return 128;
  return row_bytes % 64 == 0 ? 64 : 32;
}
static_assert(byte_box_columns(256) == 128 && byte_box_columns(96) == 32);

/// Chains of wgmma sums that Q K^T is cut into: each truncates towards zero, and one deeper than
/// 128 would need more put back than exact sums bear (chain_truncation in layout.cuh).
constexpr int wgmma_score_chains(int padded_head_dim) {
  return (padded_head_dim + 127) / 128;
}
/// Steps of 16 of depth in a chain; the last one may have fewer.
constexpr int wgmma_chain_steps(int padded_head_dim) {
  const int chains = wgmma_score_chains(padded_head_dim);
  return (padded_head_dim / 16 + chains - 1) / chains;
}

/// Registers that setmaxnreg leaves each role. ptxas gives every thread of a launch the same
/// number; what the producer gives back, the consumers take.
struct RoleRegisters {
  int consumer;
  int producer;
};

/// For 2 to 4 consumer warpgroups and one producer warpgroup; 0 where roles keep what they have. A
/// producer that transposes needs more than 24.
constexpr RoleRegisters role_registers(int consumers, bool transposes = false) {
  if (consumers == 2 && transposes) return {232, 40};
  if (consumers == 2) return {240, 24};
  if (consumers == 3) return {160, 32};
  if (consumers == 4 && transposes) return {104, 56};
  if (consumers == 4) return {112, 24};
  return {0, 0};
}

/// Registers that a launch of so many threads gives each, in the steps of setmaxnreg.
constexpr int role_pool_registers(int threads) {
  const int share = 65536 / threads / 8 * 8;
  return share < 255 ? share : 248;
}

/// Where consumers ask for more than the producer gave back, setmaxnreg waits for ever.
constexpr bool pool_suffices(int consumers, bool transposes = false) {
  const RoleRegisters roles = role_registers(consumers, transposes);
  const int launch = role_pool_registers(128 * (consumers + 1));
  return roles.consumer == 0 || consumers * (roles.consumer - launch) <= launch - roles.producer;
}
static_assert(pool_suffices(1) && pool_suffices(2) && pool_suffices(3) && pool_suffices(4));
static_assert(pool_suffices(2, true) && pool_suffices(3, true) && pool_suffices(4, true));

}  // namespace heddle
