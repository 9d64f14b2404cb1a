// How many registers a part's main loop needs: its fragments, and what ptxas adds, which is fitted.

#include <algorithm>

#include "generator/cost_model.hpp"
#include "generator/fragments.hpp"
#include "templates/warpgroup_layout.cuh"

namespace heddle {
namespace {

/// Registers a thread can address.
constexpr int kAddressable = 255;

/// Copies of fewer than 16 bytes have more addresses in flight: all 16 of 200 random kernels that
/// spilled without this had an alignment of 2, 4 or 8.
constexpr int kFullAlignment = 16;
constexpr int kSmallCopies = 10;

/// unfused takes this always: all of 5 random kernels with 176 to 200 fragments spill 92 bytes or
/// more.
int with_full_overhead(const Variant& variant, int fragments) {
  const int copies = variant.alignment < kFullAlignment ? kSmallCopies : 0;
  return fragments * 5 / 4 + 40 + copies;
}

/// Left alone, ptxas takes about 5/4 of the fragments and 40 more; against the limit it packs them
/// tighter and gets by with `packed` more.
int with_overhead(const Variant& variant, int fragments, int packed) {
  const int relaxed = with_full_overhead(variant, fragments);
  if (variant.alignment < kFullAlignment) return relaxed;
  return std::min(relaxed, std::max(kAddressable, fragments + packed));
}

/// Fitted to fa2 kernels compiled for sm_90a by NVRTC 13.0: 204 fragments hardly spill (head_dim
/// 64, 192 x 64 on 4 warps), 216 do (128, 128 x 80).
constexpr int kPacked = 51;
/// For sm_100 to sm_120 it packs less tightly: with 184 fragments (128, 128 x 48 on 4 warps) a
/// causal kernel spills 20 to 40 bytes, with 192 to 204 nearly all do, up to 128.
constexpr int kBlackwellPacked = 75;
/// What fa1 takes there more than on sm_90a (199 and above 255 registers for head_dim 128, 32 x 64
/// on 4 warps).
constexpr int kBlackwellFa1 = 55;

bool is_blackwell(const DeviceLimits& limits) {
  return limits.capability_major >= 10;
}

int fa2_registers(const Variant& variant, const KernelConfig& config, const DeviceLimits& limits) {
  return with_overhead(variant, fragments_of(variant, config, KernelPart::kFa2Attention).total(),
                       is_blackwell(limits) ? kBlackwellPacked : kPacked);
}

int fa1_registers(const Variant& variant, const KernelConfig& config, const DeviceLimits& limits) {
  return with_overhead(variant, fragments_of(variant, config, KernelPart::kFa1Attention).total(),
                       kPacked) +
         (is_blackwell(limits) ? kBlackwellFa1 : 0);
}

/// The scores kernel and the output kernel, whichever is wider.
int unfused_registers(const Variant& variant, const KernelConfig& config) {
  const int scores = fragments_of(variant, config, KernelPart::kUnfusedScores).total();
  const int output = fragments_of(variant, config, KernelPart::kUnfusedOutput).total();
  return with_full_overhead(variant, std::max(scores, output));
}

}  // namespace

/// Of a warpgroup's 64 rows.
int estimate_consumer_registers(const Variant& variant, const KernelConfig& config) {
  constexpr int kOverhead = 32;
  return fragments_of(variant, config, KernelPart::kFa3Attention).total() + kOverhead;
}

int estimate_registers(const Variant& variant, const KernelConfig& config,
                       const DeviceLimits& limits) {
  switch (config.family) {
    case Family::kFa2:
      return fa2_registers(variant, config, limits);
    case Family::kFa1:
      return fa1_registers(variant, config, limits);
    case Family::kFa3:
      return role_pool_registers(fa3_warps(config) * 32);
    case Family::kUnfused:
      return unfused_registers(variant, config);
    case Family::kReference:
      break;
  }
  return 64;  // a thread owns few entries: never near a limit
}

}  // namespace heddle
