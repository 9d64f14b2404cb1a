#pragma once
// HOW it is computed: a kernel family and its knobs.

#include "generator/field.hpp"

namespace heddle {

/// The systems of the FlashAttention line. A newer family never replaces an older one.
/// kReference is the float64 (or fp32 baseline) kernel that checks the others; it is never tuned.
enum class Family { kUnfused, kFa1, kFa2, kFa3, kReference };
/// When a row's running maximum is looked for, and when it moves: with every key block; with every
/// block, but moved only once it is exceeded by a factor of 2^8 or by a key that makes up an eighth
/// of the row (fewer rescales of the accumulator); or in the first blocks, while later ones are
/// checked by what they add to the row's sum (fa3 only).
enum class RunningMax { kEveryBlock, kLazy, kCheckedSum };
/// Which blocks work on which query tiles: one tile for each block, or a block for each SM that
/// walks tiles by turns, or as it comes to them.
enum class TileScheduler { kTilePerBlock, kStatic, kDynamic };
/// What of a warpgroup's own work runs beside its softmax: nothing, or P V of the key block before,
/// which starts right behind the block's Q K^T.
enum class Overlap { kNone, kIntraWarpgroup };
enum class ReferenceKind { kFloat64, kBaseline };

template <>
struct EnumNames<Family> {
  static constexpr std::array names{std::pair{Family::kUnfused, std::string_view("unfused")},
                                    std::pair{Family::kFa1, std::string_view("fa1")},
                                    std::pair{Family::kFa2, std::string_view("fa2")},
                                    std::pair{Family::kFa3, std::string_view("fa3")},
                                    std::pair{Family::kReference, std::string_view("reference")}};
};
template <>
struct EnumNames<RunningMax> {
  static constexpr std::array names{
      std::pair{RunningMax::kEveryBlock, std::string_view("every_block")},
      std::pair{RunningMax::kLazy, std::string_view("lazy")},
      std::pair{RunningMax::kCheckedSum, std::string_view("checked_sum")}};
};
template <>
struct EnumNames<TileScheduler> {
  static constexpr std::array names{
      std::pair{TileScheduler::kTilePerBlock, std::string_view("tile_per_block")},
      std::pair{TileScheduler::kStatic, std::string_view("static")},
      std::pair{TileScheduler::kDynamic, std::string_view("dynamic")}};
};
template <>
struct EnumNames<Overlap> {
  static constexpr std::array names{
      std::pair{Overlap::kNone, std::string_view("none")},
      std::pair{Overlap::kIntraWarpgroup, std::string_view("intra_warpgroup")}};
};
template <>
struct EnumNames<ReferenceKind> {
  static constexpr std::array names{
      std::pair{ReferenceKind::kFloat64, std::string_view("float64")},
      std::pair{ReferenceKind::kBaseline, std::string_view("baseline")}};
};

struct KernelConfig {
  Family family = Family::kFa2;
  int tile_m = 64;  ///< query rows per tile
  int tile_n = 64;  ///< keys per tile
  int warps = 4;
  int stages = 2;  ///< depth of the K/V ring in shared memory
  bool query_in_registers = false;
  RunningMax running_max = RunningMax::kLazy;
  bool split_kv = false;
  bool longest_first = true;
  int query_stages = 1;
  TileScheduler scheduler = TileScheduler::kTilePerBlock;
  bool ping_pong = false;
  Overlap overlap = Overlap::kIntraWarpgroup;
  bool warp_specialized = true;
  bool tma_store = false;
  bool skip_masked = false;
  bool pack_gqa = false;
  ReferenceKind reference = ReferenceKind::kFloat64;

  static constexpr auto fields() {
    return std::make_tuple(
        field("family", &KernelConfig::family, "unfused, fa1, fa2 or fa3"),
        field("tile_m", &KernelConfig::tile_m, "query rows per tile"),
        field("tile_n", &KernelConfig::tile_n, "keys per tile"),
        field("warps", &KernelConfig::warps, "warps that multiply: per block, or fa3's consumers"),
        field("stages", &KernelConfig::stages, "depth of the K/V ring in shared memory"),
        field("query_in_registers", &KernelConfig::query_in_registers,
              "fa2: keep Q fragments in registers instead of reloading them"),
        field("running_max", &KernelConfig::running_max,
              "fa2, fa3: move the row maximum with every block, or lazily; fa3: or look for it in "
              "the first blocks and check the later ones by their sums"),
        field("split_kv", &KernelConfig::split_kv,
              "fa2, fa3: split the keys over blocks and combine"),
        field("longest_first", &KernelConfig::longest_first,
              "causal: start the longest query tiles first"),
        field("query_stages", &KernelConfig::query_stages, "fa3: slots for query tiles"),
        field("scheduler", &KernelConfig::scheduler,
              "fa3: a block for each query tile, or for each SM with tiles by turns (static) or as "
              "it comes to them (dynamic)"),
        field("ping_pong", &KernelConfig::ping_pong,
              "fa3: warpgroups take turns at the tensor cores"),
        field("overlap", &KernelConfig::overlap,
              "fa3: a warpgroup's products run beside its softmax (intra_warpgroup), or none does"),
        field("warp_specialized", &KernelConfig::warp_specialized,
              "fa3: a warpgroup of its own loads; without it warps that also multiply do"),
        field("tma_store", &KernelConfig::tma_store,
              "fa3: store O through shared memory by TMA instead of from registers"),
        field("skip_masked", &KernelConfig::skip_masked,
              "fa3, causal: a warpgroup skips key blocks of which it sees nothing"),
        field("pack_gqa", &KernelConfig::pack_gqa,
              "fa3: query heads that share a KV head share the rows of a tile"),
        field("reference", &KernelConfig::reference, "reference: float64 or the fp32 baseline"));
  }
  friend bool operator==(const KernelConfig& a, const KernelConfig& b) {
    return fields_equal(a, b);
  }
};

}  // namespace heddle
