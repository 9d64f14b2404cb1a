#pragma once
// The host twin of templates/instruction/sleep.cuh.

#include "host_calls.cuh"

namespace heddle {

HEDDLE_TWIN void sleep_nanoseconds(unsigned) {
  host::yield();
}

}  // namespace heddle
