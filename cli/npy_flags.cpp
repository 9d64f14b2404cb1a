#include "cli/npy_flags.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace heddle {
namespace {

/// A field of the problem that the files decide: what a flag says of it must be the same.
template <class Value>
void require_same(std::string_view name, const Value& asked, const Value& read) {
  if (asked == read) return;
  const std::string field(name);
  throw Error(ErrorCode::kInvalidArgument, field,
              fmt::format("{0}: {1} was asked for, but the .npy files hold {2}; leave it out, or "
                          "give files that fit{3}",
                          field, value_text(asked), value_text(read),
                          field == "dtype" ? " (--bf16 reads uint16 and fp32 files as bf16)" : ""));
}

void require_agreement(const std::set<std::string>& given, const Problem& asked,
                       const Problem& read) {
  const auto compare = [&](const auto& entry, const auto& value, const auto& other) {
    if (given.count(std::string(entry.name)) > 0) require_same(entry.name, value, other);
  };
  for_each_field(asked.sizes, [&](const auto& entry, const auto& value) {
    const bool is_free = entry.name == "scale" || entry.name == "num_splits";
    const bool is_default_heads = entry.name == "kv_heads" && asked.sizes.kv_heads == 0 &&
                                  read.sizes.resolved_kv_heads() == read.sizes.heads;
    if (!is_free && !is_default_heads) compare(entry, value, read.sizes.*(entry.member));
  });
  for_each_field(asked.variant, [&](const auto& entry, const auto& value) {
    if (entry.name == "dtype" || entry.name == "head_dim") {
      compare(entry, value, read.variant.*(entry.member));
    }
  });
}

}  // namespace

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
  const Problem asked = problem.apply_to(input.problem);
  require_agreement(problem.names_given(), asked, input.problem);
  input.problem = asked;
  require(reject_problem(input.problem));
  return input;
}

}  // namespace heddle
