#pragma once
// The host twin of templates/instruction/cp_async.cuh.

#include "host_calls.cuh"
#include "instruction/memory.cuh"

namespace heddle {

/// Shared memory begins at 1024, so that 0 is nobody's address.
HEDDLE_TWIN unsigned shared_address(const void* pointer) {
  return host::address_in_shared(pointer);
}

HEDDLE_TWIN void copy_async_bytes(void* destination, const void* source, int bytes,
                                  int source_bytes) {
  host::copy_async({destination, source, bytes, source_bytes});
}

template <int kBytes>
HEDDLE_TWIN void copy_async(void* destination, int offset, const void* source, bool valid) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16, "cp.async moves 4, 8 or 16 bytes");
  copy_async_bytes(static_cast<char*>(destination) + offset, source, kBytes, valid ? kBytes : 0);
}

template <int kBytes>
HEDDLE_TWIN void copy_async(void* destination, int offset, const void* source) {
  copy_async<kBytes>(destination, offset, source, true);
}

HEDDLE_TWIN void copy_async_part(void* destination, const void* source, int source_bytes) {
  copy_async_bytes(destination, source, 16, source_bytes);
}

HEDDLE_TWIN void copy_async_commit() {
  host::copy_async_commit();
}

template <int kPending>
HEDDLE_TWIN void copy_async_wait() {
  host::copy_async_wait(kPending);
}

}  // namespace heddle
