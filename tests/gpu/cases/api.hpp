#pragma once
// The C ABI as a caller holds it, without the user's files.

#include <heddle/heddle.h>

#include <memory>
#include <string>

#include "runtime/abi_structs.hpp"

namespace heddle {

struct DestroyContext {
  void operator()(heddle_context* context) const { heddle_context_destroy(context); }
};
using ContextHandle = std::unique_ptr<heddle_context, DestroyContext>;

inline heddle_options plain_options() {
  heddle_options options{};
  options.struct_size = sizeof options;
  options.flags = HEDDLE_NO_DATABASE;
  return options;
}

/// Null where it failed; heddle_last_error(nullptr) says why.
inline ContextHandle create_context(const heddle_options& options = plain_options()) {
  heddle_context* context = nullptr;
  heddle_context_create(&options, &context);
  return ContextHandle(context);
}

inline heddle_arguments c_arguments(const TensorPointers& pointers, std::size_t workspace_bytes) {
  heddle_arguments arguments{};
  arguments.struct_size = sizeof arguments;
  arguments.query = pointers.query;
  arguments.key = pointers.key;
  arguments.value = pointers.value;
  arguments.output = pointers.output;
  arguments.log_sum_exp = pointers.log_sum_exp;
  arguments.workspace = workspace_bytes > 0 ? pointers.workspace : nullptr;
  arguments.workspace_bytes = workspace_bytes;
  return arguments;
}

/// "" where the status is HEDDLE_OK, else its name and explanation.
inline std::string failure(const ContextHandle& context, heddle_status status) {
  if (status == HEDDLE_OK) return "";
  return std::string(heddle_status_name(status)) + ": " + heddle_last_error(context.get());
}

inline long long compiles(const ContextHandle& context) {
  heddle_counters counters{};
  counters.struct_size = sizeof counters;
  heddle_get_counters(context.get(), &counters);
  return counters.compiles;
}

}  // namespace heddle
