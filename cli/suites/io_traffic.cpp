#include "cli/suites/io_traffic.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/terminal.hpp"
#include "generator/cost_model.hpp"

namespace heddle {
namespace {

constexpr int kHeads = 16, kHeadDim = 64, kTokens = 16384;  // GPT-2 medium's heads
constexpr int kPaperBatch = 64, kPaperLength = 1024;
constexpr int kProfiledLengths[] = {1024, 4096, 16384};
/// What the model is held to, of the bytes counted.
constexpr double kModelTolerance = 0.15;

constexpr Family kFamilies[] = {Family::kUnfused, Family::kFa1, Family::kFa2, Family::kFa3};
constexpr Tint kTints[] = {Tint::kGrey, Tint::kPurple, Tint::kGreen, Tint::kBlue};

Problem problem_of(int batch, int length) {
  Problem problem;
  problem.variant = {.dtype = DataType::kFp16, .head_dim = kHeadDim};
  problem.sizes = {.batch = batch, .heads = kHeads, .seqlen_q = length, .seqlen_kv = length};
  return problem;
}

std::string gigabytes(const std::optional<double>& bytes) {
  return bytes && *bytes > 0 ? fmt::format("{:.3g}", *bytes * 1e-9) : "-";
}

/// The paper's figure of the family, for its problem.
std::optional<double> paper_bytes(const IoMeasurement& measurement, const Peers& peers) {
  if (!is_io_paper_problem(measurement.entry.problem)) return std::nullopt;
  const std::string family(enum_name(measurement.entry.config.family));
  const PeerFigure* figure = find_figure(peers.hbm_gigabytes, family);
  if (figure == nullptr) return std::nullopt;
  return figure->most * 1e9;
}

/// How many predictions hold, and which do not; the paper's problem beside them is not asked.
std::string model_verdict(const std::vector<IoMeasurement>& measurements) {
  int counted = 0, within = 0;
  std::string beyond;
  for (const IoMeasurement& m : measurements) {
    if (!m.counter_bytes || is_io_paper_problem(m.entry.problem)) continue;
    ++counted;
    // Of the counters, that is: the model's error over what was really moved.
    const double error = m.counted_bytes / *m.counter_bytes - 1;
    if (std::abs(error) <= kModelTolerance) {
      ++within;
    } else {
      beyond += fmt::format("{} {} {} ({:+.0f} %)", beyond.empty() ? "; beyond:" : ",",
                            enum_name(m.entry.config.family), m.entry.problem.sizes.seqlen_q,
                            100 * error);
    }
  }
  if (counted == 0) return "model beside counters: none were read";
  return fmt::format("model within {:.0f} % of the counters in {} of {}{}", 100 * kModelTolerance,
                     within, counted, beyond);
}

std::size_t family_at(const CsvTable& csv, std::size_t row) {
  for (std::size_t f = 0; f < std::size(kFamilies); ++f) {
    if (csv.text(row, "family") == enum_name(kFamilies[f])) return f;
  }
  csv.refuse(row, "family", "is none of unfused, fa1, fa2, fa3");
}

/// For a logarithmic axis, which has no 0.
std::optional<double> positive(std::optional<double> value, double factor) {
  if (!value || *value == 0) return std::nullopt;
  return *value * factor;
}

}  // namespace

bool is_io_paper_problem(const Problem& problem) {
  return problem.sizes.batch == kPaperBatch && problem.sizes.seqlen_q == kPaperLength;
}

bool is_profiled(const Problem& problem) {
  return is_io_paper_problem(problem) ||
         std::find(std::begin(kProfiledLengths), std::end(kProfiledLengths),
                   problem.sizes.seqlen_q) != std::end(kProfiledLengths);
}

std::vector<std::vector<SuiteCase>> io_cases(const std::vector<int>& lengths,
                                             const FamilyChooser& choose) {
  std::vector<Problem> problems;
  for (const int length : lengths) problems.push_back(problem_of(kTokens / length, length));
  problems.push_back(problem_of(kPaperBatch, kPaperLength));
  std::vector<std::vector<SuiteCase>> cells;
  for (const Problem& problem : problems) {
    cells.emplace_back();
    for (const Family family : kFamilies) cells.back().push_back(choose(problem, family));
  }
  return cells;
}

std::optional<double> asked_bytes(const SuiteCase& entry, const DeviceLimits& limits) {
  if (entry.config.split_kv || entry.problem.variant.mask != MaskKind::kFull) return std::nullopt;
  const Sizes& sizes = entry.problem.sizes;
  const double queries = sizes.seqlen_q, keys = sizes.seqlen_kv;
  const double row_bytes =
      1.0 * entry.problem.variant.head_dim * element_bytes(entry.problem.variant.dtype);
  const int tiles = plan_launch(entry.problem, entry.config, limits).query_tiles;
  constexpr double kLogSumExpBytes = 4, kScoreBytes = 12;  // fp32 and an element, out and in
  double head = 2 * queries * row_bytes + 2 * tiles * keys * row_bytes + kLogSumExpBytes * queries;
  if (entry.config.family == Family::kUnfused) head += kScoreBytes * queries * keys;
  return head * sizes.batch * sizes.heads;
}

double counted_hbm_bytes(const SuiteCase& entry, const DeviceLimits& limits) {
  return predict(entry.problem, entry.config, limits).hbm_bytes;
}

BenchSuiteReport io_report(const std::vector<IoMeasurement>& measurements,
                           const std::string& profiler, const Peers& peers) {
  BenchSuiteReport report;
  report.suite = "fa1-io";
  report.method = {
      fmt::format("{} tokens in all, {} heads of {} columns, fp16, full mask; last the "
                  "FlashAttention paper's problem, batch {} and length {}",
                  kTokens, kHeads, kHeadDim, kPaperBatch, kPaperLength),
      "least: Q, K, V read and O written once; asked: what the kernels ask of global memory, K and "
      "V "
      "once for each query tile; model: bytes with HBM by the cost model, which leaves out what L2 "
      "keeps",
      "time: median of samples timed by events, launch cost hidden, families interleaved",
      "counters: " + profiler};
  report.table = {{"problem", "family", "least GB", "asked GB", "model GB", "counters GB",
                   "counters / model", "time", "TFLOP/s", "paper GB"}};
  report.records.columns = {"batch",         "heads",       "length",         "head_dim",
                            "family",        "least_bytes", "asked_bytes",    "model_bytes",
                            "counter_bytes", "seconds",     "spread_seconds", "tflops",
                            "paper_bytes",   "match",       "config"};
  std::vector<SuiteCase> cases;
  std::vector<SuiteTiming> timings;
  for (const IoMeasurement& m : measurements) {
    const Sizes& sizes = m.entry.problem.sizes;
    const std::string family(enum_name(m.entry.config.family));
    const double least = minimal_bytes(m.entry.problem);
    const auto paper = paper_bytes(m, peers);
    report.table.push_back(
        {fmt::format("{} x {}", sizes.batch, sizes.seqlen_q), family, gigabytes(least),
         gigabytes(m.asked_bytes), gigabytes(m.counted_bytes), gigabytes(m.counter_bytes),
         m.counter_bytes ? fmt::format("{:.2f}", *m.counter_bytes / m.counted_bytes) : "-",
         m.timing.measured() ? format_seconds(m.timing.seconds) : "-",
         shown(tflops_of(m.entry, m.timing), "{:.0f}"), gigabytes(paper)});
    report.records.rows.push_back(
        {double(sizes.batch), double(sizes.heads), double(sizes.seqlen_q), double(kHeadDim), family,
         least, value_of(m.asked_bytes), m.counted_bytes, value_of(m.counter_bytes),
         seconds_of(m.timing), m.timing.measured() ? Value(m.timing.spread_seconds) : Value(),
         tflops_of(m.entry, m.timing), value_of(paper), std::string(enum_name(m.entry.match)),
         canonical_text(m.entry.config)});
    cases.push_back(m.entry);
    timings.push_back(m.timing);
  }
  report.notes = failure_notes(cases, timings);
  report.notes.push_back(model_verdict(measurements));
  report.notes.push_back("paper: forward and backward together, here forward alone");
  for (const std::string& line : peers.cited({"fa1_paper"})) report.notes.push_back(line);
  return report;
}

Plot io_plot(const CsvTable& csv, const Peers& /*peers*/) {
  Plot plot{.title = "What fusing saves: traffic with HBM, and time, of one call",
            .x_name = "length of a sequence, tokens",
            .y_name = "",
            .logarithmic_x = true,
            .logarithmic_y = true};
  plot.about = about_lines(fmt::format("fp16, full mask, {} tokens in all, {} heads, head dim {}",
                                       kTokens, kHeads, kHeadDim),
                           csv);
  Panel bytes{"HBM traffic, GB", {}}, times{"time, ms", {}};
  for (std::size_t f = 0; f < std::size(kFamilies); ++f) {
    const std::string name(enum_name(kFamilies[f]));
    times.series.push_back({name, kTints[f]});
    bytes.series.push_back({name, kTints[f]});
  }
  for (std::size_t f = 0; f < std::size(kFamilies); ++f) {
    const std::string name(enum_name(kFamilies[f]));
    bytes.series.push_back({name + ", model", kTints[f], true, {}, name});
  }
  for (std::size_t row = 0; row < csv.size(); ++row) {
    const int batch = csv.whole(row, "batch"), length = csv.whole(row, "length");
    if (is_io_paper_problem(problem_of(batch, length))) continue;  // no point of the sweep
    constexpr double kGigabytes = 1e-9, kMilliseconds = 1e3;
    const std::size_t f = family_at(csv, row);
    add_point(bytes.series[std::size(kFamilies) + f], length,
              positive(csv.figure_or_zero(row, "model_bytes"), kGigabytes));
    add_point(bytes.series[f], length, positive(csv.figure(row, "counter_bytes"), kGigabytes));
    add_point(times.series[f], length, positive(csv.figure(row, "seconds"), kMilliseconds));
  }
  plot.panels = {bytes, times};
  plot.notes.emplace_back(
      "Solid: as the DRAM counters of Nsight Compute say, where they were read; dashed: as the "
      "cost model counts. Default kernel of each family; no figures of others");
  add_command(plot, csv);
  return plot;
}

}  // namespace heddle
