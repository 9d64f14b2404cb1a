#pragma once
// The host twin of templates/instruction/elect.cuh.

#include "instruction/thread.cuh"

namespace heddle {

HEDDLE_TWIN bool elect_one() {
  return host::exchange(host::WarpOperation::kElect, 0, 0) != 0;
}

HEDDLE_TWIN int uniform(int value) {
  return host::exchange_value(host::WarpOperation::kShuffle, 0, value);
}

}  // namespace heddle
