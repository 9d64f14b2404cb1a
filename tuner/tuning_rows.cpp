#include "tuner/tuning_rows.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "generator/version.hpp"
#include "tuner/relative_scale.hpp"
#include "tuner/statistics.hpp"

namespace heddle {
namespace {

constexpr std::size_t kMostNear = 4;

Provenance provenance_of(const RowContext& context, const Candidate& candidate) {
  const TuneTarget& target = context.target;
  Provenance origin;
  const Nvrtc& nvrtc = target.compiler.nvrtc();
  origin.nvrtc_version = fmt::format("{}.{}", nvrtc.major_version(), nvrtc.minor_version());
  if (!nvrtc.build_id().empty()) origin.nvrtc_version += " (build " + nvrtc.build_id() + ")";
  if (target.device != nullptr) {
    const int version = target.device->driver().version();
    origin.driver_version = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
  }
  origin.heddle_version = kVersion;
  origin.source_hash = candidate.kernels
                           ? candidate.kernels->source_hash
                           : hash_of(emit_parts(context.problem.variant, candidate.config,
                                                target.limits, candidate.bad));
  origin.when = now_utc();
  origin.command = context.command;
  return origin;
}

std::string timings_text(const Timing& timing) {
  std::string text;
  for (std::size_t i = 0; i < timing.seconds.size(); ++i) {
    const double clock = i < timing.clocks_mhz.size() ? timing.clocks_mhz[i] : 0;
    text += fmt::format("{}{:.0f}@{:.0f}", text.empty() ? "" : " ", timing.seconds[i] * 1e9, clock);
  }
  return text;
}

void add_timing(Measurement& row, const Timing& timing) {
  row.median_seconds = timing.median_seconds;
  row.spread_seconds = timing.spread_seconds;
  row.interval_seconds = median_interval(timing.seconds).half_width();
  row.samples = static_cast<int>(timing.seconds.size());
  row.clock_mhz = timing.clock_mhz;
  row.timings = timings_text(timing);
}

bool same_makers(const Provenance& left, const Provenance& right) {
  return left.heddle_version == right.heddle_version &&
         left.driver_version == right.driver_version && left.nvrtc_version == right.nvrtc_version &&
         left.source_hash == right.source_hash;
}

bool is_of(const RowContext& context, const Measurement& row) {
  return fields_equal(row.sizes, context.problem.sizes) && row.warm == context.warm;
}

bool counts(const Measurement& row) {
  if (row.evidence == Evidence::kFailed) return true;
  return row.evidence == Evidence::kMeasured && row.relative > 0 && row.check && row.check->passed;
}

void take_over(const Measurement& row, Candidate& candidate) {
  candidate.known = true;
  candidate.check = row.check;
  candidate.failure = row.failure;
  candidate.relative = row.relative;
}

}  // namespace

std::string now_utc() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

Measurement row_of(const RowContext& context, const Candidate& candidate, double elapsed_seconds) {
  Measurement row;
  row.variant = context.problem.variant;
  row.bucket = bucket_of(context.problem.sizes);
  row.sizes = context.problem.sizes;
  row.device = context.target.device_class;
  row.config = candidate.config;
  row.evidence = context.predicted ? Evidence::kPredicted : Evidence::kMeasured;
  row.median_seconds = candidate.prediction.seconds;
  if (candidate.timing) add_timing(row, *candidate.timing);
  if (context.relative_to_default) row.relative = candidate.relative;
  if (!candidate.failure.empty()) {
    row.evidence = Evidence::kFailed;
    row.failure = candidate.failure;
    row.relative = 0;
  }
  row.check = candidate.check;
  if (!context.predicted) {  // predictions are the same whenever they are made
    row.tuning = context.tuning;
    row.warm = context.warm;
    row.elapsed_seconds = elapsed_seconds;
  }
  if (candidate.kernels) {
    for (const auto& part : candidate.kernels->parts) {
      row.registers = std::max(row.registers, part->notes.registers);
      row.spill_bytes = std::max(row.spill_bytes, part->notes.spill_store_bytes);
    }
  }
  row.provenance = provenance_of(context, candidate);
  return row;
}

void recall(const RowContext& context, CandidateList& list) {
  const Problem& problem = context.problem;
  std::map<std::pair<std::string, std::string>, const Measurement*> newest;
  const auto rows = context.target.store.rows_of(problem.variant, context.target.device_class);
  for (const Measurement& row : rows) {
    if (!is_of(context, row) || !counts(row)) continue;
    const Measurement*& known = newest[{canonical_text(row.config), row.provenance.source_hash}];
    if (known == nullptr || known->provenance.when <= row.provenance.when) known = &row;
  }
  std::map<std::string, bool> has_rows;
  std::vector<const Measurement*> measured;
  for (const Measurement& row : rows) {
    if (is_of(context, row)) measured.push_back(&row);
  }
  for (const auto& [key, row] : newest) has_rows[key.first] = true;
  std::optional<RelativeScale> scale;
  if (list.base) scale.emplace(measured, list.all[*list.base].config);
  for (Candidate& candidate : list.all) {
    const std::string config = canonical_text(candidate.config);
    if (has_rows.count(config) == 0) continue;  // spares emitting its text
    const Provenance now = provenance_of(context, candidate);
    const auto found = newest.find({config, now.source_hash});
    if (found == newest.end() || !same_makers(found->second->provenance, now)) continue;
    const Measurement& row = *found->second;
    const bool failed = row.evidence == Evidence::kFailed;
    const auto relative = failed || !scale ? row.relative : scale->roughly(row);
    if (!relative) continue;
    take_over(row, candidate);
    candidate.relative = *relative;
  }
}

bool recall_choice(const RowContext& context, const CandidateList& list, TuneReport& report) {
  const auto rows =
      context.target.store.rows_of(context.problem.variant, context.target.device_class);
  const auto with_times = [&](const Measurement& row) -> std::optional<Candidate> {
    for (const Candidate& candidate : list.all) {
      if (candidate.bad || !(candidate.config == row.config)) continue;
      if (!same_makers(row.provenance, provenance_of(context, candidate))) return std::nullopt;
      Candidate found = candidate;
      take_over(row, found);
      found.timing.emplace();
      found.timing->median_seconds = row.median_seconds;
      found.timing->spread_seconds = row.spread_seconds;
      found.timing->clock_mhz = row.clock_mhz;
      return found;
    }
    return std::nullopt;
  };
  const auto is_of_this = [&](const Measurement& row) {
    return is_of(context, row) && row.provenance.command == context.command && counts(row);
  };
  const Measurement* choice = nullptr;
  for (const Measurement& row : rows) {
    if (!row.chosen || !is_of_this(row)) continue;
    if (choice == nullptr || choice->provenance.when <= row.provenance.when) choice = &row;
  }
  if (choice != nullptr) report.winner = with_times(*choice);
  if (!report.winner) return false;
  for (const Measurement& row : rows) {  // the last of its rows is that of the last race
    const bool is_default = list.base && row.config == list.all[*list.base].config;
    if (is_default && is_of_this(row) && row.tuning == choice->tuning &&
        row.evidence == Evidence::kMeasured) {
      report.baseline = with_times(row);
    }
  }
  report.noise = choice->noise;
  report.earlier = report.finished = true;
  return true;
}

std::vector<KernelConfig> near_winners(const TuneTarget& target, const Problem& problem) {
  std::vector<KernelConfig> configs;
  target.store.find(problem.variant, bucket_of(problem.sizes), target.device_class,
                    [&](const Lookup& answer) {
                      configs.push_back(answer.config);
                      return configs.size() < kMostNear ? Verdict::kNextPlace : Verdict::kTake;
                    });
  return configs;
}

}  // namespace heddle
