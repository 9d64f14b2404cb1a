#pragma once
// Entries of O once they are stored.

#include "instruction/types.cuh"

namespace heddle {

inline void set_to(float& entry, float value) {
  entry = value;
}
template <class Element>
inline void set_to(Element& entry, float value) {
  entry = from_float<Element>(value);
}

inline void add_to(float& entry, float value) {
  entry += value;
}
template <class Element>
inline void add_to(Element& entry, float value) {
  entry = from_float<Element>(to_float(entry) + value);
}

}  // namespace heddle
