#include "serve.hpp"

#include <heddle/heddle.hpp>

namespace {

heddle::Problem problem_of(int index) {
  heddle::Problem problem;
  problem.batch = 1;
  problem.heads = 4;
  problem.seqlen_q = problem.seqlen_kv = 128;
  problem.head_dim = 8 * (index + 1);
  return problem;
}

/// A cache that cannot be used is no error, but is told.
void keep_line(void* user, const char* line) {
  auto& wrong = static_cast<Served*>(user)->wrong;
  if (wrong.empty()) wrong = line;
}

}  // namespace

Served serve(const Files& files) {
  Served served;
  heddle::Options options;
  options.driver_path = files.driver.c_str();
  options.nvrtc_path = files.nvrtc.c_str();
  options.cache_path = files.cache.c_str();
  options.results_path = files.results.c_str();
  options.log = keep_line;
  options.log_user = &served;
  auto context = heddle::Context::create(options);
  if (!context) return {0, context.status().message()};
  for (int i = 0; i < kKernels; ++i) {
    const heddle::Status status = context->prepare({problem_of(i)});
    if (!status) keep_line(&served, status.message().c_str());
  }
  served.compiles = context->counters().compiles;
  return served;
}
