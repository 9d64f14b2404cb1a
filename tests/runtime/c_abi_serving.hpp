#pragma once
// The C ABI's objects over the fake driver, as a C program would hold them.

#include <heddle/heddle.h>

#include <memory>

#include "tests/runtime/serving.hpp"

namespace heddle {

struct DestroyContext {
  void operator()(heddle_context* context) const { heddle_context_destroy(context); }
};
using ContextHandle = std::unique_ptr<heddle_context, DestroyContext>;

inline heddle_options default_options() {
  heddle_options options{};
  options.struct_size = sizeof options;
  options.driver_path = HEDDLE_FAKE_CUDA_PATH;
  options.nvrtc_path = HEDDLE_FAKE_NVRTC_FOLDER "/13_loadable";
  options.flags = HEDDLE_NO_DATABASE;
  return options;
}

inline ContextHandle create_context(const heddle_options& options = default_options()) {
  heddle_context* context = nullptr;
  const heddle_status status = heddle_context_create(&options, &context);
  INFO(heddle_last_error(nullptr));
  REQUIRE(status == HEDDLE_OK);
  return ContextHandle(context);
}

/// Of fp16, for which no winner is stored: the default serves it, fa3 on sm_90a, fa2 on others.
inline heddle_problem c_problem() {
  heddle_problem problem{};
  problem.struct_size = sizeof problem;
  problem.batch = 2;
  problem.heads = 8;
  problem.kv_heads = 2;
  problem.seqlen_q = problem.seqlen_kv = 100;
  problem.head_dim = 64;
  problem.dtype = HEDDLE_FP16;
  return problem;
}

inline heddle_arguments c_arguments(const Serving& serving) {
  heddle_arguments arguments{};
  arguments.struct_size = sizeof arguments;
  arguments.query = serving.allocate();
  arguments.key = serving.allocate();
  arguments.value = serving.allocate();
  arguments.output = serving.allocate();
  return arguments;
}

inline heddle_counters counters_of(heddle_context* context) {
  heddle_counters counters{};
  counters.struct_size = sizeof counters;
  REQUIRE(heddle_get_counters(context, &counters) == HEDDLE_OK);
  return counters;
}

}  // namespace heddle
