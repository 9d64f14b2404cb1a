#include "tuner/tuner.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <random>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "generator/version.hpp"
#include "tuner/compile_pool.hpp"
#include "tuner/gate.hpp"
#include "tuner/race.hpp"

namespace heddle {
namespace {

std::string now_utc() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

std::uint64_t fresh_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

std::vector<Candidate> list_candidates(const TuneTarget& target, const Problem& problem,
                                       const TuneOptions& options) {
  std::vector<Candidate> candidates;
  for (const RankedConfig& ranked : rank_candidates(problem, target.limits)) {
    const bool wanted =
        options.families.empty() ||
        std::count(options.families.begin(), options.families.end(), ranked.config.family) > 0;
    if (!wanted) continue;
    candidates.emplace_back();
    candidates.back().config = ranked.config;
    candidates.back().prediction = ranked.prediction;
  }
  return candidates;
}

/// Cuts the list to the limit but keeps the default config in it: tuning never ends slower.
void apply_limit(std::vector<Candidate>& candidates, const KernelConfig& default_config,
                 int limit) {
  const auto is_default = [&](const Candidate& entry) { return entry.config == default_config; };
  if (limit <= 0 || static_cast<int>(candidates.size()) <= limit) return;
  const auto cut = candidates.begin() + limit;
  const auto found = std::find_if(candidates.begin(), candidates.end(), is_default);
  if (found >= cut && found != candidates.end()) std::swap(*found, *(cut - 1));
  candidates.erase(cut, candidates.end());
}

/// One problem's way through the stages.
class Run {
 public:
  Run(const TuneTarget& target, const NamedProblem& problem, const TuneOptions& options)
      : target_(target), options_(options), problem_(problem.problem) {
    report_.problem = problem;
    report_.predicted = target.device == nullptr;
    default_config_ = default_config(problem_.variant, bucket_of(problem_.sizes), target.limits);
  }

  TuneReport run() {
    candidates_ = list_candidates(target_, problem_, options_);
    report_.legal = static_cast<int>(candidates_.size());
    if (candidates_.empty()) {
      throw Error(ErrorCode::kNoLegalConfig, "family",
                  "no configuration of the chosen families is legal for this problem on " +
                      target_.limits.architecture);
    }
    apply_limit(candidates_, default_config_, options_.limit);
    compile_candidates(target_, problem_.variant, candidates_, options_);
    report_.compiled = count([](const Candidate& entry) { return entry.kernels.has_value(); });
    if (target_.device != nullptr) check_and_measure(*target_.device);
    choose_winner();
    store_rows();
    summarise_failures();
    return std::move(report_);
  }

 private:
  template <class Predicate>
  int count(Predicate&& predicate) const {
    return static_cast<int>(std::count_if(candidates_.begin(), candidates_.end(), predicate));
  }

  bool interrupted() const { return options_.interrupted && options_.interrupted(); }

  void progress(TuneStage stage, int done, int total) const {
    if (options_.progress) options_.progress({stage, done, total});
  }

  void check_and_measure(const Device& device) {
    std::vector<Racer> racers;
    std::vector<Candidate*> ready;
    std::size_t workspace_bytes = 0;
    for (Candidate& candidate : candidates_) {
      if (!candidate.kernels || !candidate.failure.empty()) continue;
      ready.push_back(&candidate);
      const auto plan = plan_launch(problem_, candidate.config, device.limits());
      workspace_bytes = std::max(workspace_bytes, plan.workspace_bytes);
    }
    Gate gate(device, target_.compiler, problem_, options_.seed ? options_.seed : fresh_seed());
    for (std::size_t i = 0; i < ready.size() && !interrupted(); ++i) {
      check(device, gate, *ready[i], racers);
      progress(TuneStage::kCheck, static_cast<int>(i) + 1, static_cast<int>(ready.size()));
    }
    report_.checked = static_cast<int>(racers.size());
    if (racers.empty() || interrupted()) return;
    const InputSets inputs(device, problem_, workspace_bytes, fresh_seed());
    for (Racer& racer : racers) {
      racer.parameters = inputs.parameters(racer.candidate->config, racer.plan);
    }
    measure(device, racers);
  }

  void check(const Device& device, Gate& gate, Candidate& candidate, std::vector<Racer>& racers) {
    try {
      auto kernels = load_config(device, problem_.variant, candidate.config, *candidate.kernels);
      const Comparison comparison = gate.check(candidate.config, *kernels);
      candidate.check = comparison.record;
      if (!comparison.record.passed) {
        candidate.failure = "wrong result: " + comparison.explanation;
        return;
      }
      Racer racer;
      racer.candidate = &candidate;
      racer.keep = candidate.config == default_config_;
      racer.kernels = std::move(kernels);
      racer.plan = plan_launch(problem_, candidate.config, device.limits());
      racers.push_back(std::move(racer));
    } catch (const Error& error) {
      candidate.failure = error.what();
    }
  }

  void measure(const Device& device, std::vector<Racer>& racers) {
    const auto spin = target_.compiler.compile(spin_kernel_source(target_.limits.architecture));
    Meter meter(device, spin->cubin);
    progress(TuneStage::kMeasure, 0, static_cast<int>(racers.size()));
    race(meter, racers, options_);
    progress(TuneStage::kMeasure, static_cast<int>(racers.size()), static_cast<int>(racers.size()));
    report_.measured = count([](const Candidate& entry) { return entry.timing.has_value(); });
  }

  double cost(const Candidate& candidate) const {
    return report_.predicted ? candidate.prediction.seconds : candidate.timing->median_seconds;
  }

  void choose_winner() {
    const Candidate* best = nullptr;
    for (const Candidate& candidate : candidates_) {
      const bool usable =
          candidate.failure.empty() && candidate.kernels && (report_.predicted || candidate.timing);
      if (!usable) continue;
      if (candidate.config == default_config_) report_.baseline = candidate;
      if (best == nullptr || cost(candidate) < cost(*best)) best = &candidate;
    }
    if (best != nullptr) report_.winner = *best;
  }

  Measurement row_of(const Candidate& candidate) const {
    Measurement row;
    row.variant = problem_.variant;
    row.bucket = bucket_of(problem_.sizes);
    row.sizes = problem_.sizes;
    row.device = target_.device_class;
    row.config = candidate.config;
    row.evidence = report_.predicted ? Evidence::kPredicted : Evidence::kMeasured;
    row.median_seconds = candidate.prediction.seconds;
    if (candidate.timing) {
      row.median_seconds = candidate.timing->median_seconds;
      row.spread_seconds = candidate.timing->spread_seconds;
      row.samples = static_cast<int>(candidate.timing->seconds.size());
      row.clock_mhz = candidate.timing->clock_mhz;
    }
    if (!candidate.failure.empty()) {
      row.evidence = Evidence::kFailed;
      row.failure = candidate.failure;
    }
    row.check = candidate.check;
    row.provenance = provenance(candidate);
    return row;
  }

  Provenance provenance(const Candidate& candidate) const {
    Provenance origin;
    const Nvrtc& nvrtc = target_.compiler.nvrtc();
    origin.nvrtc_version = fmt::format("{}.{}", nvrtc.major_version(), nvrtc.minor_version());
    if (target_.device != nullptr) {
      const int version = target_.device->driver().version();
      origin.driver_version = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
    }
    origin.heddle_version = kVersion;
    if (candidate.kernels) origin.source_hash = candidate.kernels->source_hash;
    origin.when = now_utc();
    origin.command = options_.command;
    return origin;
  }

  void store_rows() const {
    for (const Candidate& candidate : candidates_) {
      const bool known = !candidate.failure.empty() || candidate.timing ||
                         (report_.predicted && candidate.kernels);
      if (known) target_.store.record(row_of(candidate));
    }
  }

  void summarise_failures() {
    std::map<std::string, int> reasons;
    for (const Candidate& candidate : candidates_) {
      if (!candidate.failure.empty()) ++reasons[candidate.failure];
    }
    for (const auto& [reason, times] : reasons) {
      report_.failures.push_back(fmt::format("{} x {}", times, reason));
    }
  }

  const TuneTarget& target_;
  const TuneOptions& options_;
  Problem problem_;
  KernelConfig default_config_;
  std::vector<Candidate> candidates_;
  TuneReport report_;
};

}  // namespace

TuneReport tune(const TuneTarget& target, const NamedProblem& problem, const TuneOptions& options) {
  return Run(target, problem, options).run();
}

}  // namespace heddle
