#pragma once
// From the C structs of heddle.h to heddle's own types. Range errors name the C field.

#include <cstddef>
#include <cstring>
#include <string>

#include "generator/launch_plan.hpp"
#include "generator/problem.hpp"
#include "heddle/heddle.h"
#include "runtime/quantiser.hpp"

namespace heddle {

/// Throws kInvalidArgument (null, struct_size not set) or kUnsupported (fields of a newer header
/// are in use). `what` names the argument in the message.
void require_struct(const void* given, std::size_t known_size, const char* what);

/// The caller's struct as this version knows it: missing fields read as zero. The usual case, equal
/// sizes, costs a comparison and returns the caller's own; else `storage` is filled and returned.
template <class Struct>
const Struct& adopt(const Struct* given, Struct& storage, const char* what) {
  if (given != nullptr && given->struct_size == sizeof(Struct)) return *given;
  require_struct(given, sizeof(Struct), what);
  storage = Struct{};
  std::memcpy(&storage, given,
              given->struct_size < sizeof(Struct) ? given->struct_size : sizeof(Struct));
  return storage;
}

/// Fills in what the caller's (perhaps older, shorter) struct has room for; struct_size stays.
template <class Struct>
void hand_back(Struct* given, Struct value, const char* what) {
  require_struct(given, sizeof(Struct), what);
  value.struct_size = given->struct_size;
  std::memcpy(given, &value,
              given->struct_size < sizeof(Struct) ? given->struct_size : sizeof(Struct));
}

/// Throws where a value does not fit; what the values mean is reject_problem's business. The
/// variant's alignment is left at its default.
Problem read_problem(const heddle_problem& problem);

/// A plain variant's problem for a C callback.
heddle_problem write_problem(const Problem& problem);

/// What a heddle_quantiser says; results, stream and problem are left to the caller.
QuantiserCall read_quantiser(const heddle_quantiser& quantiser);

/// Throws kUnsupported where a pointer that must be null is not.
TensorPointers read_arguments(const heddle_arguments& arguments);

}  // namespace heddle
