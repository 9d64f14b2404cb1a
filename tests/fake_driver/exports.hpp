#pragma once
// Declares everything that the fake exports, with the types of the library's own table: a
// definition that differs from it does not compile, and a missing one does not link.

#include "tests/fake_driver/state.hpp"

#define HEDDLE_FAKE_EXPORT extern "C" __attribute__((visibility("default")))

#define HEDDLE_FAKE_DECLARE(member, symbol, ...) \
  HEDDLE_FAKE_EXPORT heddle::Driver::Api::member##_signature symbol;
HEDDLE_DRIVER_ENTRY_POINTS(HEDDLE_FAKE_DECLARE)
#undef HEDDLE_FAKE_DECLARE

namespace heddle::fake {
#define HEDDLE_FAKE_SIGNATURE(name, ...) using name##_control = __VA_ARGS__;
HEDDLE_FAKE_CUDA_CONTROLS(HEDDLE_FAKE_SIGNATURE)
#undef HEDDLE_FAKE_SIGNATURE
}  // namespace heddle::fake

#define HEDDLE_FAKE_DECLARE(name, ...) \
  HEDDLE_FAKE_EXPORT heddle::fake::name##_control fake_cuda_##name;
HEDDLE_FAKE_CUDA_CONTROLS(HEDDLE_FAKE_DECLARE)
#undef HEDDLE_FAKE_DECLARE
