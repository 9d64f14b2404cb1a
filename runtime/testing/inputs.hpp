#pragma once
// Seeded inputs. The same seed gives the same bits on every machine.

#include <cstdint>
#include <string_view>

#include "runtime/testing/encode.hpp"
#include "runtime/testing/layout.hpp"
#include "runtime/testing/random.hpp"
#include "runtime/testing/reference.hpp"

namespace heddle {

enum class InputKind {
  kNormal,       ///< N(0, 1) throughout
  kLargeLogits,  ///< Q times 8: a few keys dominate each row
  kOneHot,       ///< query i and key j meet (logit 16) where i = j modulo head_dim, else logit 0
  kRising,       ///< logits rise along the keys: the running maximum never rests
  kOneHeavy,     ///< one key, the first or a late one, makes up most of each row
  kSpikes,       ///< one key in 64 stands out, by ever more along the keys
  kJumps,        ///< seven of eight queries: logits jump by the rise, each at another key
  /// Logits are whole numbers of ln 2 where the scale is ln 2, with e4m3 whatever the scale, and V
  /// is whole numbers: P and the sums are exact, so that a value at the wrong key cannot hide.
  kExact,
};
/// By how much logits rise along all keys where they do: far more than a lazily rescaled maximum
/// tolerates. Negative: they fall, which for kernels that begin with the last key is a rise.
constexpr double kDefaultRise = 40.0;

template <>
struct EnumNames<InputKind> {
  static constexpr std::array names{
      std::pair{InputKind::kNormal, std::string_view("normal")},
      std::pair{InputKind::kLargeLogits, std::string_view("large_logits")},
      std::pair{InputKind::kOneHot, std::string_view("one_hot")},
      std::pair{InputKind::kRising, std::string_view("rising")},
      std::pair{InputKind::kOneHeavy, std::string_view("one_heavy")},
      std::pair{InputKind::kSpikes, std::string_view("spikes")},
      std::pair{InputKind::kJumps, std::string_view("jumps")},
      std::pair{InputKind::kExact, std::string_view("exact")}};
};

/// What random inputs are asked for.
struct InputOptions {
  InputKind kind = InputKind::kNormal;
  double rise = kDefaultRise;
};

/// The numbers of the problem's shape, before they are rounded to its type.
InputNumbers make_numbers(const Problem& problem, InputKind kind, std::uint64_t seed,
                          double rise = kDefaultRise);

/// Contiguous tensors of the problem's shape, whatever its strides. e4m3 ones come with random
/// scales.
HostTensors make_contiguous_inputs(const Problem& problem, InputKind kind, std::uint64_t seed,
                                   double rise = kDefaultRise);

/// The same values laid out by the problem's strides; gaps hold NaN.
HostTensors make_inputs(const Problem& problem, InputKind kind, std::uint64_t seed,
                        double rise = kDefaultRise);

/// Contiguous tensors, V by its value_layout, spread out by the problem's strides.
HostTensors scatter_inputs(const Problem& problem, const HostTensors& contiguous);

}  // namespace heddle
