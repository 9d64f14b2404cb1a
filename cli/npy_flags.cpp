#include "cli/npy_flags.hpp"

#include <CLI/CLI.hpp>

namespace heddle {

void NpyFlags::add_to(CLI::App& app) {
  app.add_option("--q", files_.query, "Q as .npy [batch, heads, seqlen_q, head_dim]")
      ->group("Files");
  app.add_option("--k", files_.key, "K as .npy [batch, kv_heads, seqlen_kv, head_dim]")
      ->group("Files");
  app.add_option("--v", files_.value, "V as .npy, K's shape")->group("Files");
  app.add_flag("--bf16", bf16_, "uint16 files hold bf16 bits; fp32 is rounded to bf16, not fp16")
      ->group("Files");
}

AttentionInput NpyFlags::read(const ProblemFlags& problem) const {
  if (files_.query.empty() || files_.key.empty() || files_.value.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "q", "--q, --k and --v must be given together");
  }
  AttentionInput input =
      read_attention_inputs(files_, bf16_ ? NpyElements::kBf16 : NpyElements::kFp16);
  const Problem asked = problem.resolve();
  Variant variant = asked.variant;
  variant.dtype = input.problem.variant.dtype;
  variant.head_dim = input.problem.variant.head_dim;
  input.problem.variant = variant;
  input.problem.sizes.scale = asked.sizes.scale;
  input.problem.sizes.num_splits = asked.sizes.num_splits;
  require(reject_problem(input.problem));
  return input;
}

}  // namespace heddle
