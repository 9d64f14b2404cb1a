#pragma once
// The host twin of templates/instruction/atomic.cuh.

#include "host_calls.cuh"

namespace heddle {

namespace host {
HEDDLE_TWIN unsigned on_word(AtomicOperation operation, const void* address, unsigned value,
                             bool ordered) {
  AtomicCall call{operation, const_cast<void*>(address), value, 0, ordered};
  atomic_call(call);
  return call.result;
}
}  // namespace host

HEDDLE_TWIN int atomic_add(int* address, int value) {
  return static_cast<int>(
      host::on_word(host::AtomicOperation::kAdd, address, static_cast<unsigned>(value), false));
}
HEDDLE_TWIN unsigned atomic_add(unsigned* address, unsigned value) {
  return host::on_word(host::AtomicOperation::kAdd, address, value, false);
}
HEDDLE_TWIN unsigned atomic_increment(unsigned* address, unsigned last) {
  return host::on_word(host::AtomicOperation::kIncrement, address, last, false);
}
HEDDLE_TWIN int atomic_add_ordered(int* address, int value) {
  return static_cast<int>(
      host::on_word(host::AtomicOperation::kAdd, address, static_cast<unsigned>(value), true));
}
HEDDLE_TWIN int atomic_exchange(int* address, int value) {
  return static_cast<int>(host::on_word(host::AtomicOperation::kExchange, address,
                                        static_cast<unsigned>(value), false));
}
HEDDLE_TWIN int load_acquire(const int* address) {
  return static_cast<int>(host::on_word(host::AtomicOperation::kLoad, address, 0, true));
}
HEDDLE_TWIN void store_release(int* address, int value) {
  host::on_word(host::AtomicOperation::kStore, address, static_cast<unsigned>(value), true);
}

}  // namespace heddle
