#include "cli/npy_flags.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "runtime/testing/scales.hpp"

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
                          field == "dtype" ? " (--bf16 reads uint16 and fp32 files as bf16, "
                                             "--dtype e4m3 uint8 files as e4m3)"
                                           : ""));
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

/// The originals' lengths and counts must be the quantised files'.
void require_same_extents(const Problem& original, const Problem& quantised) {
  const auto compare = [](const std::string& name, int actual, int expected) {
    if (actual == expected) return;
    throw Error(ErrorCode::kInvalidArgument, "original_q",
                fmt::format("--original-q, --original-k, --original-v: {} is {}, but that of --q, "
                            "--k and --v is {}; give the files that they were made from",
                            name, actual, expected));
  };
  compare("head_dim", original.variant.head_dim, quantised.variant.head_dim);
  compare("batch", original.sizes.batch, quantised.sizes.batch);
  compare("heads", original.sizes.heads, quantised.sizes.heads);
  compare("kv_heads", original.sizes.resolved_kv_heads(), quantised.sizes.resolved_kv_heads());
  compare("seqlen_q", original.sizes.seqlen_q, quantised.sizes.seqlen_q);
  compare("seqlen_kv", original.sizes.seqlen_kv, quantised.sizes.seqlen_kv);
}

std::string description_of(const std::string& scale_field) {
  if (scale_field == "value_mean") {
    return "e4m3: fp32 .npy [batch, kv_heads, head_dim], what was taken off V: added to O";
  }
  if (scale_field == "log_sum_exp_shift") {
    return "e4m3: fp32 .npy [batch, heads, seqlen_q], added to the log-sum-exp";
  }
  if (scale_field == "value_descale") {
    return "e4m3: fp32 .npy [batch, kv_heads], [1] with --scales tensor; absent: 1";
  }
  return "e4m3: fp32 .npy, what elements are multiplied by: [1], [batch, heads], or that by blocks "
         "or rows, as --scales says; absent: 1";
}

}  // namespace

void NpyFlags::add_to(CLI::App& app) {
  const auto add = [&](const char* name, std::string& path, const char* description) {
    app.add_option(name, path, description)->group("Files");
  };
  add("--q", files_.query, "Q as .npy [batch, heads, seqlen_q, head_dim]");
  add("--k", files_.key, "K as .npy [batch, kv_heads, seqlen_kv, head_dim]");
  add("--v", files_.value,
      "V as .npy, K's shape; --value-layout transposed: [batch, kv_heads, head_dim, keys]");
  app.add_flag("--bf16", bf16_, "uint16 files hold bf16 bits; fp32 is rounded to bf16, not fp16")
      ->group("Files");
  for (const ScaleField& field : scale_fields({})) {
    const std::string name(field.name);
    app.add_option_function<std::string>(
           flag_name(name), [this, name](const std::string& path) { scales_[name] = path; },
           description_of(name))
        ->group("Files");
  }
}

AttentionInput NpyFlags::read(const ProblemFlags& problem) const {
  if (!files_.all_given()) {
    throw Error(ErrorCode::kInvalidArgument, "q", "--q, --k and --v must be given together");
  }
  const Variant wanted = problem.apply_to({}).variant;
  const bool is_e4m3 = wanted.dtype == DataType::kE4m3;
  if (is_e4m3 && bf16_ && !originals_.any_given()) {
    throw Error(ErrorCode::kInvalidArgument, "bf16",
                "--bf16: --dtype e4m3 reads uint8 files, and no --original-q was given that bf16 "
                "could be the type of; leave it out");
  }
  AttentionInput input = read_attention_inputs(
      files_, is_e4m3 ? NpyElements::kE4m3 : wide_elements(), wanted.value_layout);
  const Problem asked = problem.apply_to(input.problem);
  require_agreement(problem.names_given(), asked, input.problem);
  input.problem = asked;
  require(reject_problem(input.problem));
  input.tensors.scales = read_scales(scales_, input.problem);
  return input;
}

void NpyFlags::add_originals_to(CLI::App& app) {
  const auto add = [&](const char* name, std::string& path, const std::string& tensor) {
    app.add_option(name, path,
                   "what e4m3 " + tensor + " was made from: prints the error against it")
        ->group("Files");
  };
  add("--original-q", originals_.query, "Q");
  add("--original-k", originals_.key, "K");
  add("--original-v", originals_.value, "V");
}

std::optional<AttentionInput> NpyFlags::read_originals(const Problem& quantised) const {
  if (!originals_.any_given()) return std::nullopt;
  if (!originals_.all_given()) {
    throw Error(ErrorCode::kInvalidArgument, "original_q",
                "--original-q, --original-k and --original-v must be given together");
  }
  if (quantised.variant.dtype != DataType::kE4m3) {
    throw Error(ErrorCode::kInvalidArgument, "original_q",
                "--original-q: '" + originals_.query +
                    "' is what e4m3 files were made from, but the inputs are " +
                    value_text(quantised.variant.dtype) +
                    "; leave it out, or say --dtype e4m3 for uint8 files");
  }
  AttentionInput originals = read_attention_inputs(originals_, wide_elements());
  require_same_extents(originals.problem, quantised);
  originals.problem.variant.mask = quantised.variant.mask;
  originals.problem.sizes.scale = quantised.sizes.scale;
  return originals;
}

}  // namespace heddle
