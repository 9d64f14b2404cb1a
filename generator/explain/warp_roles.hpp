#pragma once
// How the warps of a block divide the work, and what they exchange, barrier by barrier.

#include <string>
#include <string_view>
#include <vector>

#include "generator/kernel_part.hpp"

namespace heddle {

/// What a role owns that only serves others.
inline constexpr std::string_view kNoRows = "no rows";

struct Role {
  std::string name;
  int warps = 0;
  std::string owns;  ///< of a tile
  std::string does;
};
std::vector<Role> roles_of(const Variant& variant, const KernelConfig& config, KernelPart part);

/// What a barrier happens once for.
enum class Period { kKeyTile, kMaskedKeyTile, kQueryTile, kBlock };

template <>
struct EnumNames<Period> {
  static constexpr std::array names{
      std::pair{Period::kKeyTile, std::string_view("key tile")},
      std::pair{Period::kMaskedKeyTile, std::string_view("key tile that the mask cuts")},
      std::pair{Period::kQueryTile, std::string_view("query tile")},
      std::pair{Period::kBlock, std::string_view("block")}};
};

enum class BarrierKind { kBlock, kNamed, kMbarrier, kNone };

template <>
struct EnumNames<BarrierKind> {
  static constexpr std::array names{
      std::pair{BarrierKind::kBlock, std::string_view("block barrier")},
      std::pair{BarrierKind::kNamed, std::string_view("named barrier")},
      std::pair{BarrierKind::kMbarrier, std::string_view("mbarrier")},
      std::pair{BarrierKind::kNone, std::string_view("no barrier")}};
};

struct Exchange {
  std::string name;  ///< of the barrier, or of what is done without one
  BarrierKind kind{};
  int times = 0;  ///< that a thread meets it in a period
  Period period{};
  int threads = 0;      ///< that meet
  std::string what;     ///< is known behind it
  int groups = 1;       ///< that meet apart from each other: teams
  long long bytes = 0;  ///< that warps write for each other in a period; tiles are no exchange
};
std::vector<Exchange> exchanges_of(const Variant& variant, const KernelConfig& config,
                                   KernelPart part);

}  // namespace heddle
