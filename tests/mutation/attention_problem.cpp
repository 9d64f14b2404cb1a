#include "tests/mutation/attention_problem.hpp"

#include <cstring>

#include <fmt/format.h>

#include "generator/error.hpp"
#include "runtime/testing/compare.hpp"
#include "runtime/testing/layout.hpp"

namespace heddle::mutation {
namespace {

constexpr std::uint16_t kUntouched = 0xffff;  // what run_on_host fills O with

bool same_bits(const void* left, const void* right, std::size_t bytes) {
  return bytes == 0 || std::memcmp(left, right, bytes) == 0;
}

bool same_results(const HostRun& left, const HostRun& right) {
  return left.output_storage == right.output_storage &&
         same_bits(left.log_sum_exp.data(), right.log_sum_exp.data(),
                   left.log_sum_exp.size() * sizeof(float));
}

/// Elements of O's storage that belong to no row must be as they were.
bool gaps_untouched(const Problem& problem, const HostRun& run) {
  const TensorShape shape = query_shape(problem);
  const Strides strides = effective_strides(problem.sizes.output_strides, shape);
  std::vector<std::uint16_t> inside(shape.elements(), 1);
  std::vector<std::uint16_t> marks = scatter(inside, strides, shape);
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (marks[i] != 1 && run.output_storage[i] != kUntouched) return false;
  }
  return true;
}

void replace(std::string& text, std::string_view before, std::string_view after) {
  const std::size_t at = text.find(before);
  if (at == std::string::npos) {
    throw Error(ErrorCode::kInternal, fmt::format("an emitted kernel lacks '{}'", before));
  }
  text.replace(at, before.size(), after);
}

double constant_shift(const SmallProblem& small) {
  return small.hook == Hook::kLargeScore ? 8192 : 0;
}

/// What the score hook adds to every logit of a head: O stays, LSE moves by as much.
double score_shift(const SmallProblem& small, int batch, int head) {
  return constant_shift(small) + 0.5 * head + 2.0 * batch;
}

void shift(AttentionResult& result, const SmallProblem& small) {
  if (small.hook != Hook::kScore && small.hook != Hook::kLargeScore) return;
  const TensorShape shape = query_shape(small.problem);
  for (std::size_t i = 0; i < result.log_sum_exp.size(); ++i) {
    const int flat_head = static_cast<int>(i) / shape.rows;
    result.log_sum_exp[i] += score_shift(small, flat_head / shape.heads, flat_head % shape.heads);
    if (!result.largest_logit.empty()) result.largest_logit[i] += constant_shift(small);
  }
}

/// What a snippet of the problem will do: here it hides what lies above the diagonal.
void add_hook(const SmallProblem& small, std::string& text) {
  if (small.hook == Hook::kNone) return;
  const Sizes& sizes = small.problem.sizes;
  const std::string shows =
      fmt::format("where.key <= where.query + {}", sizes.seqlen_kv - sizes.seqlen_q);
  if (small.hook != Hook::kMask) {
    replace(text, "kScoreHook = false", "kScoreHook = true");
    replace(text, "score(Logit logit, heddle::ScorePosition)",
            "score(Logit logit, heddle::ScorePosition where)");
    replace(text, "return logit;",
            fmt::format("return {} ? logit + Logit({}) + Logit(0.5) * where.head\n"
                        "               + Logit(2) * where.batch : Logit(-heddle::infinity());",
                        shows, constant_shift(small)));
  } else {
    replace(text, "kMaskHook = false", "kMaskHook = true");
    replace(text, "visible(heddle::ScorePosition) { return true; }",
            fmt::format("visible(heddle::ScorePosition where) {{ return {}; }}", shows));
  }
}

DeviceLimits limits_of(const SmallProblem& small) {
  DeviceLimits limits = find_architecture("sm_90a");
  if (small.multiprocessors > 0) limits.sm_count = small.multiprocessors;
  return limits;
}

}  // namespace

AttentionProblem::AttentionProblem(SmallProblem small, HostCompiler& compiler)
    : PreparedProblem(small.name, std::string(enum_name(small.config.family))),
      small_(std::move(small)),
      limits_(limits_of(small_)),
      stated_(small_.problem) {
  if (small_.hook != Hook::kNone) stated_.variant.mask = MaskKind::kCausal;
  reference_ = reference_attention(stated_, small_.tensors, ReferenceMode::kFloat64);
  baseline_ = reference_attention(stated_, small_.tensors, ReferenceMode::kBaseline);
  shift(reference_, small_);
  shift(baseline_, small_);
  if (small_.clean) {
    clean_reference_ = reference_attention(stated_, *small_.clean, ReferenceMode::kFloat64);
  }
  const Variant& variant = small_.problem.variant;
  if (small_.alike) {
    alike_ = run(compile_for_host(compiler, variant, *small_.alike, limits_), small_.tensors, {});
  }
  const DeviceLimits device = find_architecture("sm_90a");
  for (const KernelPart part : kernel_parts(small_.config)) {
    KernelSource source = emit(variant, small_.config, part, device);
    add_hook(small_, source.main.text);
    for (SourceFile& header : source.headers) {
      if (header.name == "part/tile_walk.cuh" && small_.small_cache) {
        replace(header.text, "32 << 20", "16 << 10");  // as long: the places of mutants hold
      }
    }
    add(std::move(source));
  }
}

HostRun AttentionProblem::run(const HostConfig& kernels, const HostTensors& tensors,
                              const Schedule& schedule) const {
  return run_on_host(small_.problem, kernels, limits_, tensors, {schedule, 1});
}

std::string AttentionProblem::check_run(const HostRun& run) const {
  if (!run.faults.empty()) return "fault: " + run.faults.front().describe();
  const Comparison result = compare(stated_, reference_, baseline_, run.output, run.log_sum_exp);
  if (!result.record.passed) return "wrong answer: " + result.explanation;
  if (!gaps_untouched(small_.problem, run)) return "wrote between the rows of O";
  if (run.tile_counter != 0) return fmt::format("the tile counter is left at {}", run.tile_counter);
  return {};
}

/// Rows that the reference gives alike with and without the odd values keep their bits.
std::string AttentionProblem::compare_with_clean(const HostRun& run, const HostRun& clean) const {
  const std::size_t rows = run.log_sum_exp.size();
  const auto columns = static_cast<std::size_t>(small_.problem.variant.head_dim);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t first = row * columns;
    const bool alike = same_bits(&reference_.output[first], &clean_reference_.output[first],
                                 columns * sizeof(double));
    if (alike && !same_bits(&run.output[first], &clean.output[first], 2 * columns)) {
      return fmt::format("row {} changed with values that it does not see", row);
    }
  }
  return {};
}

std::string AttentionProblem::check(const HostKernels& kernels) const {
  const HostConfig config{small_.config, kernels};
  const HostRun first = run(config, small_.tensors, {1, Landing::kLatest});
  std::string found = check_run(first);
  if (!found.empty()) return found;
  const HostRun second = run(config, small_.tensors, {2, Landing::kRandom});
  found = check_run(second);
  if (found.empty() && !same_results(first, second)) found = "two schedules give different bits";
  if (found.empty() && alike_ && !same_results(first, *alike_)) {
    found = "another config gives different bits";
  }
  if (!found.empty() || !small_.clean) return found;
  return compare_with_clean(first, run(config, *small_.clean, {1, Landing::kLatest}));
}

}  // namespace heddle::mutation
