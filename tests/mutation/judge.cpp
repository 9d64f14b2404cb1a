#include "tests/mutation/judge.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "generator/error.hpp"
#include "runtime/testing/compare.hpp"
#include "runtime/testing/layout.hpp"

namespace heddle::mutation {
namespace {

constexpr std::uint16_t kUntouched = 0xffff;  // what run_on_host fills O with

/// layout.cuh, part/ and kernel/. The instruction layer has twins instead of mutants.
bool is_mutable(const std::string& name) {
  return name == "layout.cuh" || name == "warpgroup_layout.cuh" ||
         name == "mapped_parameters.cuh" || name.starts_with("part/") ||
         name.starts_with("kernel/");
}

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

/// Rows that the reference gives alike with and without the odd values keep their bits.
std::string compare_with_clean(const PreparedProblem& problem, const HostRun& run,
                               const HostRun& clean) {
  const std::size_t rows = run.log_sum_exp.size();
  const auto columns = static_cast<std::size_t>(problem.small.problem.variant.head_dim);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t first = row * columns;
    const std::size_t bytes = columns * sizeof(double);
    const bool alike =
        same_bits(&problem.reference.output[first], &problem.clean_reference.output[first], bytes);
    if (alike && !same_bits(&run.output[first], &clean.output[first], 2 * columns)) {
      return fmt::format("row {} changed with values that it does not see", row);
    }
  }
  return {};
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

std::string check_run(const PreparedProblem& problem, const HostRun& run) {
  if (!run.faults.empty()) return "fault: " + run.faults.front().describe();
  const Comparison result =
      compare(problem.stated, problem.reference, problem.baseline, run.output, run.log_sum_exp);
  if (!result.record.passed) return "wrong answer: " + result.explanation;
  if (!gaps_untouched(problem.small.problem, run)) return "wrote between the rows of O";
  if (run.tile_counter != 0) return fmt::format("the tile counter is left at {}", run.tile_counter);
  return {};
}

}  // namespace

Judge::Judge(const std::vector<std::string>& names) : limits_(find_architecture("sm_90a")) {
  for (SmallProblem& small : small_problems()) {
    const bool named = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return small.name.find(name) != std::string::npos;
    });
    if (named || names.empty()) prepare(std::move(small));
  }
}

void Judge::prepare(SmallProblem small) {
  PreparedProblem problem{std::move(small), {}, {}, {}, {}, {}, {}, {}};
  problem.stated = problem.small.problem;
  if (problem.small.hook != Hook::kNone) problem.stated.variant.mask = MaskKind::kCausal;
  const Problem& asked = problem.stated;
  problem.reference = reference_attention(asked, problem.small.tensors, ReferenceMode::kFloat64);
  problem.baseline = reference_attention(asked, problem.small.tensors, ReferenceMode::kBaseline);
  shift(problem.reference, problem.small);
  shift(problem.baseline, problem.small);
  if (problem.small.clean) {
    problem.clean_reference =
        reference_attention(asked, *problem.small.clean, ReferenceMode::kFloat64);
  }
  problem.alike = run_alike(problem.small);
  for (const KernelPart part : kernel_parts(problem.small.config)) {
    KernelSource source = emit(problem.small.problem.variant, problem.small.config, part, limits_);
    add_hook(problem.small, source.main.text);
    for (SourceFile& header : source.headers) {
      if (header.name == "part/tile_walk.cuh" && problem.small.small_cache) {
        replace(header.text, "32 << 20", "16 << 10");  // as long: the places of mutants hold
      }
      if (!is_mutable(header.name)) continue;
      problem.headers.insert(header.name);
      headers_.emplace(header.name, header.text);
    }
    problem.sources.push_back(std::move(source));
  }
  problems_.push_back(std::move(problem));
}

DeviceLimits Judge::limits_of(const SmallProblem& small) const {
  DeviceLimits limits = limits_;
  if (small.multiprocessors > 0) limits.sm_count = small.multiprocessors;
  return limits;
}

std::optional<HostRun> Judge::run_alike(const SmallProblem& small) {
  if (!small.alike) return std::nullopt;
  const DeviceLimits limits = limits_of(small);
  const HostConfig kernels =
      compile_for_host(compiler_, small.problem.variant, *small.alike, limits);
  return run_on_host(small.problem, kernels, limits, small.tensors, {});
}

HostConfig Judge::compile(const PreparedProblem& problem, const Mutant& mutant) {
  HostConfig kernels{problem.small.config, {}};
  for (KernelSource source : problem.sources) {
    for (SourceFile& header : source.headers) {
      if (header.name == mutant.file) header.text = mutant.apply(header.text);
    }
    kernels.parts.push_back(compiler_.compile(source));
  }
  return kernels;
}

std::string Judge::check(const PreparedProblem& problem, const HostConfig& kernels) const {
  const SmallProblem& small = problem.small;
  const DeviceLimits limits = limits_of(small);
  const auto run = [&](const HostTensors& tensors, const Schedule& schedule) {
    return run_on_host(small.problem, kernels, limits, tensors, {schedule, 1});
  };
  const HostRun first = run(small.tensors, {1, Landing::kLatest});
  std::string found = check_run(problem, first);
  if (!found.empty()) return found;
  const HostRun second = run(small.tensors, {2, Landing::kRandom});
  found = check_run(problem, second);
  if (found.empty() && !same_results(first, second)) found = "two schedules give different bits";
  if (found.empty() && problem.alike && !same_results(first, *problem.alike)) {
    found = "another config gives different bits";
  }
  if (!found.empty() || !small.clean) return found;
  return compare_with_clean(problem, first, run(*small.clean, {1, Landing::kLatest}));
}

}  // namespace heddle::mutation
