#pragma once
// The host twin of templates/instruction/memory.cuh.

#include "host_calls.cuh"

namespace heddle {

template <int kBytes>
struct Bytes;

template <>
struct alignas(2) Bytes<2> {
  unsigned short value;
};
template <>
struct alignas(4) Bytes<4> {
  unsigned value;
};
template <>
struct alignas(8) Bytes<8> {
  unsigned value[2];
};
template <>
struct alignas(16) Bytes<16> {
  unsigned value[4];
};

// One access of kBytes each, checked as such; the copy itself is not instrumented again.

template <int kBytes>
HEDDLE_TWIN Bytes<kBytes> load(const void* address) {
  host::check(address, kBytes, host::kRead | host::kAligned);
  Bytes<kBytes> bytes;
  host::move_bytes(&bytes, address, kBytes);
  return bytes;
}

template <int kBytes>
HEDDLE_TWIN void store(void* address, const Bytes<kBytes>& bytes) {
  host::check(address, kBytes, host::kWrite | host::kAligned);
  host::move_bytes(address, &bytes, kBytes);
}

template <int kBytes>
HEDDLE_TWIN Bytes<kBytes> load_or_zero(const void* address, bool valid) {
  return valid ? load<kBytes>(address) : Bytes<kBytes>{};
}

HEDDLE_TWIN void store_global(void* address, const Bytes<16>& bytes) {
  store<16>(address, bytes);
}

HEDDLE_TWIN void store_global_if(bool exists, void* address, const Bytes<16>& bytes) {
  if (exists) store_global(address, bytes);
}

}  // namespace heddle
