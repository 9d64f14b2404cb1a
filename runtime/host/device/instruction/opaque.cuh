#pragma once
// The host twin of templates/instruction/opaque.cuh.

namespace heddle {

inline long long opaque(long long value) {
  return value;
}

}  // namespace heddle
