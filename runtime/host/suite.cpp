#include "runtime/host/suite.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "runtime/host/suite_rows.hpp"
#include "runtime/testing/case_checks.hpp"

namespace heddle {
namespace {

std::vector<Family> families_of(const HostSuiteOptions& options) {
  if (!options.families.empty()) return options.families;
  return {Family::kUnfused, Family::kFa1, Family::kFa2, Family::kFa3};
}

std::string describe(const std::string& label, const Problem& problem, const KernelConfig& config) {
  return fmt::format("{} [{}; {}] {}", label, canonical_text(problem.variant),
                     canonical_text(problem.sizes), full_text(config));
}

class Suite {
 public:
  Suite(HostCompiler& compiler, const DeviceLimits& limits, const HostSuiteOptions& options,
        const std::function<void(int, int)>& progress)
      : compiler_(compiler), limits_(limits), options_(options), progress_(progress) {
    for (const Family family : families_of(options)) {
      for (HostSuiteRow& row : pairwise_rows(family, limits, options.seed)) {
        rows_.push_back(std::move(row));
      }
    }
    keep_every_nth();
    if (options.named_cases) add_named_cases();
  }

  HostSuiteReport run() {
    const unsigned cores = options_.cores > 0 ? static_cast<unsigned>(options_.cores)
                                              : std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < cores; ++i) threads.emplace_back([this] { work(); });
    threads.clear();
    std::sort(report_.failures.begin(), report_.failures.end(),
              [](const auto& left, const auto& right) { return left.what < right.what; });
    return std::move(report_);
  }

 private:
  void keep_every_nth() {
    std::vector<HostSuiteRow> kept;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (i % static_cast<std::size_t>(options_.stride) == 0) kept.push_back(std::move(rows_[i]));
    }
    rows_ = std::move(kept);
  }

  void add_named_cases() {
    std::size_t index = 0;
    for (const DataType dtype : {DataType::kBf16, DataType::kFp16, DataType::kE4m3}) {
      for (CaseInput& entry : all_cases(dtype)) {
        if (index++ % static_cast<std::size_t>(options_.stride) != 0) continue;
        const auto shared = std::make_shared<const CaseInput>(std::move(entry));
        const auto families = families_of(options_);
        for (std::size_t i = 0; i < families.size(); ++i) {
          // fp16 differs from bf16 in the element alone: there each case meets one family, in turn.
          if (dtype == DataType::kFp16 && i != index % families.size()) continue;
          if (dtype == DataType::kE4m3 && families[i] != Family::kFa3) continue;
          auto row = named_row(shared, families[i], limits_);
          if (row) rows_.push_back(std::move(*row));
        }
      }
    }
  }

  void work() {
    for (std::size_t i = next_++; i < rows_.size(); i = next_++) {
      const HostSuiteRow& row = rows_[i];
      std::string why;
      try {
        why = check(row);
      } catch (const std::exception& error) {
        why = error.what();
      }
      std::lock_guard lock(mutex_);
      ++report_.checks;
      if (!why.empty())
        report_.failures.push_back({describe(row.label, row.problem, row.config), why});
      if (progress_) progress_(report_.checks, static_cast<int>(rows_.size()));
    }
  }

  std::string check(const HostSuiteRow& row) {
    const HostConfig kernels =
        compile_for_host(compiler_, row.problem.variant, row.config, limits_);
    {
      std::lock_guard lock(mutex_);
      report_.kernels += static_cast<int>(kernels.parts.size());
    }
    HostVerifyOptions verify;
    verify.seed = row.seed;
    verify.cores = 1;
    if (row.named) verify.landings = {row.seed % 2 == 0 ? Landing::kLatest : Landing::kRandom};
    const HostCase host_case = make_host_case(row.problem, row.tensors());
    const HostVerdict verdict = verify_on_host(host_case, kernels, limits_, verify);
    if (!verdict.passed()) return verdict.explain();
    return row.named ? check_named(row, kernels, verdict.run) : "";
  }

  /// What is known of a named case beyond the reference: values worked out by hand, and rows that
  /// must have the same bits as without the odd values.
  std::string check_named(const HostSuiteRow& row, const HostConfig& kernels, const HostRun& run) {
    const std::string wrong = check_expected_rows(*row.named, {run.output, run.log_sum_exp});
    if (!wrong.empty() || !row.named->clean) return wrong;
    const HostRun clean = run_on_host(row.problem, kernels, limits_, *row.named->clean,
                                      {{row.seed, Landing::kLatest}, 1});
    if (!clean.faults.empty()) return clean.faults.front().describe();
    return check_clean_rows(*row.named, {run.output, run.log_sum_exp},
                            {clean.output, clean.log_sum_exp});
  }

  HostCompiler& compiler_;
  const DeviceLimits& limits_;
  const HostSuiteOptions& options_;
  const std::function<void(int, int)>& progress_;
  std::vector<HostSuiteRow> rows_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  HostSuiteReport report_;
};

}  // namespace

HostSuiteReport run_host_suite(HostCompiler& compiler, const DeviceLimits& limits,
                               const HostSuiteOptions& options,
                               const std::function<void(int, int)>& progress) {
  return Suite(compiler, limits, options, progress).run();
}

}  // namespace heddle
