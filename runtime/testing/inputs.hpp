#pragma once
// Seeded inputs. The same seed gives the same bits on every machine.

#include <cstdint>
#include <string_view>

#include "runtime/testing/layout.hpp"
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
      std::pair{InputKind::kJumps, std::string_view("jumps")}};
};

/// What random inputs are asked for.
struct InputOptions {
  InputKind kind = InputKind::kNormal;
  double rise = kDefaultRise;
};

/// N(0, 1) numbers by a counter-based generator and the Box-Muller transform.
class NormalSource {
 public:
  explicit NormalSource(std::uint64_t seed) : state_(seed) {}
  double next();

 private:
  double uniform();

  std::uint64_t state_;
  double spare_ = 0;
  bool has_spare_ = false;
};

/// Contiguous tensors of the problem's shape, whatever its strides.
HostTensors make_contiguous_inputs(const Problem& problem, InputKind kind, std::uint64_t seed,
                                   double rise = kDefaultRise);

/// The same values laid out by the problem's strides; gaps hold NaN.
HostTensors make_inputs(const Problem& problem, InputKind kind, std::uint64_t seed,
                        double rise = kDefaultRise);

/// Contiguous tensors spread out by the problem's strides.
HostTensors scatter_inputs(const Problem& problem, const HostTensors& contiguous);

}  // namespace heddle
