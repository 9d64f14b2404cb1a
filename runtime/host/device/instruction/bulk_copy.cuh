#pragma once
// The host twin of templates/instruction/bulk_copy.cuh.

#include "instruction/mbarrier.cuh"

namespace heddle {

HEDDLE_TWIN void load_bytes(void* destination, const void* source, int bytes, Barrier& barrier) {
  host::BulkCopy copy{};
  copy.shared = destination;
  copy.global = const_cast<void*>(source);
  copy.bytes = bytes;
  copy.barrier = &barrier;
  host::bulk_copy(copy);
}

HEDDLE_TWIN void store_bytes(void* destination, const void* source, int bytes) {
  host::BulkCopy copy{};
  copy.store = true;
  copy.shared = const_cast<void*>(source);
  copy.global = destination;
  copy.bytes = bytes;
  host::bulk_copy(copy);
}

HEDDLE_TWIN void store_commit() {
  host::bulk_commit();
}

// Global memory is written when shared memory has been read: the two waits end together.

template <int kPending>
HEDDLE_TWIN void store_wait_read() {
  host::bulk_wait(kPending);
}
template <int kPending>
HEDDLE_TWIN void store_wait() {
  host::bulk_wait(kPending);
}

}  // namespace heddle
