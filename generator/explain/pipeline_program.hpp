#pragma once
// What a team does, operation by operation, as the templates have it.

#include <vector>

#include "generator/explain/pipeline.hpp"

namespace heddle {

enum class Tensor { kKey, kValue };

struct Op {
  enum class Kind {
    kAwaitTile,  ///< until a tile has landed
    kRelease,    ///< the team has done with a tile
    kTakeTurn,
    kGiveTurn,
    kStart,         ///< a product, which runs by itself
    kAwaitProduct,  ///< until it is over
    kAlone,         ///< takes so many cycles, whatever others do
    kSoftmax,       ///< takes so many cycles, more where others do the same
  };
  Kind kind{};
  int step = 0;
  Activity activity{};
  Tensor tensor{};
  double cycles = 0;
};

/// All key tiles of a query tile.
std::vector<Op> program_of(const PipelinePlan& plan);

}  // namespace heddle
