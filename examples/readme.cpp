#include <heddle/heddle.hpp>

// O = softmax(scale * Q Kᵀ) V, causal, bf16: 32 query heads over 8 key/value heads of 128 columns.
heddle::Status attend(heddle::Context& context, int length, heddle::Arguments tensors,
                      void* (*allocate)(std::size_t), void* stream) {
  heddle::Problem problem;  // every field starts at its default: bf16, contiguous, 1/sqrt(d) …
  problem.batch = 1;
  problem.heads = 32;
  problem.kv_heads = 8;
  problem.seqlen_q = problem.seqlen_kv = length;
  problem.head_dim = 128;
  problem.mask = HEDDLE_CAUSAL;

  const auto bytes = context.workspace_bytes(problem, &tensors);  // the first call compiles
  if (!bytes) return bytes.status();
  tensors.workspace_bytes = *bytes;  // 0 unless the keys are split over blocks
  if (*bytes > 0) tensors.workspace = allocate(*bytes);
  return context.launch(problem, tensors, stream);  // asynchronous; a cudaStream_t as it is
}
