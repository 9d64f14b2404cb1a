#include "cli/suites/parallelism.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/terminal.hpp"
#include "generator/cost_model.hpp"
#include "generator/part_work.hpp"

namespace heddle {
namespace {

struct Shape {
  int batch, heads, queries, keys;
  std::vector<int> splits;
};

/// Few heads and much to do for each; a few queries over many keys, where tiles of queries are
/// fewer than SMs too; enough heads for all.
std::vector<Shape> shapes() {
  return {{1, 4, 16384, 16384, {2, 4}},
          {1, 16, 16384, 16384, {2}},
          {1, 4, 128, 65536, {4, 16, 32}},
          {4, 64, 1024, 1024, {2}}};
}

/// The chosen kernel on another shape; split where more than one part is asked for.
SuiteCase case_of(const Shape& shape, SuiteCase entry, int splits) {
  entry.problem.sizes = {.batch = shape.batch,
                         .heads = shape.heads,
                         .seqlen_q = shape.queries,
                         .seqlen_kv = shape.keys};
  entry.label = std::string(enum_name(entry.config.family));
  entry.config.split_kv = splits > 1;
  if (splits > 1) {
    entry.problem.sizes.num_splits = splits;
    entry.label += fmt::format(", {} splits", splits);
  }
  return entry;
}

std::string percent(double share) {
  return fmt::format("{:.3g} %", 100 * share);
}

std::string shape_words(const Sizes& sizes) {
  return fmt::format("{} x {} heads, {} x {}", sizes.batch, sizes.heads, sizes.seqlen_q,
                     sizes.seqlen_kv);
}

/// The series of a kernel, in as many splits; a new one at the end where there is none yet.
std::size_t series_of(Plot& plot, const std::string& kernel, int splits) {
  const bool is_fa1 = kernel == enum_name(Family::kFa1);
  const Tint tint = is_fa1 ? Tint::kPurple : splits > 1 ? Tint::kBlue : Tint::kGreen;
  const std::string name = splits > 1 ? fmt::format("{}, {} splits", kernel, splits) : kernel;
  for (std::size_t i = 0; i < plot.bar_series.size(); ++i) {
    if (plot.bar_series[i].name == name) return i;
  }
  plot.bar_series.push_back({name, tint});
  return plot.bar_series.size() - 1;
}

}  // namespace

std::vector<std::vector<SuiteCase>> parallelism_cases(const FamilyChooser& choose) {
  Problem prefill;
  prefill.sizes = {.heads = 16, .seqlen_q = 16384, .seqlen_kv = 16384};
  const SuiteCase fa1 = choose(prefill, Family::kFa1);
  const SuiteCase fa2 = choose(prefill, Family::kFa2);
  std::vector<std::vector<SuiteCase>> cells;
  for (const Shape& shape : shapes()) {
    cells.push_back({case_of(shape, fa1, 1), case_of(shape, fa2, 1)});
    for (const int splits : shape.splits) cells.back().push_back(case_of(shape, fa2, splits));
  }
  return cells;
}

Occupancy occupancy_of(const SuiteCase& entry, const DeviceLimits& limits) {
  const Prediction prediction = predict(entry.problem, entry.config, limits);
  const LaunchPlan plan = plan_launch(entry.problem, entry.config, limits);
  const PartWork work = count_work(entry.problem, entry.config, plan, 0, limits);
  constexpr int kWarpThreads = 32;
  const double slots = static_cast<double>(limits.sm_count) * prediction.blocks_per_sm;
  const double resident_threads = std::min(work.blocks, slots) * work.warps * kWarpThreads;
  Occupancy result;
  result.blocks = work.blocks;
  result.blocks_per_sm = prediction.blocks_per_sm;
  result.waves = prediction.waves;
  result.busy_sms = std::min(1.0, work.blocks / limits.sm_count);
  result.warp_slots =
      resident_threads / (static_cast<double>(limits.sm_count) * limits.threads_per_sm);
  result.shared_bytes = work.blocks * work.mean_steps * work.step.shared_bytes;
  result.seconds = prediction.seconds;
  return result;
}

BenchSuiteReport parallelism_report(const std::vector<SuiteCase>& cases,
                                    const std::vector<SuiteTiming>& timings,
                                    const DeviceLimits& limits, const Peers& peers) {
  BenchSuiteReport report;
  report.suite = "fa2-parallelism";
  report.method = {
      "bf16, head dim 128, full mask; of each family the kernel that it gets for 16 heads of 16384",
      "predicted: blocks, waves of blocks, SMs that have one, places for warps that are taken "
      "(mean over SMs, of one wave), time",
      "shared GB: what all blocks read and write of shared memory, by the cost model's formula; "
      "a score is a pair of query and key",
      "time: median of samples timed by events, launch cost hidden, interleaved; the combining "
      "kernel is in it"};
  report.table = {{"problem", "kernel", "blocks", "waves", "SMs busy", "warp slots", "shared GB",
                   "shared B / score", "predicted", "time", "spread", "TFLOP/s"}};
  report.records.columns = {"batch",
                            "heads",
                            "seqlen_q",
                            "seqlen_kv",
                            "kernel",
                            "num_splits",
                            "blocks",
                            "blocks_per_sm",
                            "waves",
                            "busy_sms",
                            "warp_slots",
                            "shared_bytes",
                            "shared_bytes_per_score",
                            "predicted_seconds",
                            "seconds",
                            "spread_seconds",
                            "tflops",
                            "config"};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const SuiteCase& entry = cases[i];
    const Sizes& sizes = entry.problem.sizes;
    const Occupancy predicted = occupancy_of(entry, limits);
    const double scores = 1.0 * sizes.batch * sizes.heads * sizes.seqlen_q * sizes.seqlen_kv;
    const double per_score = predicted.shared_bytes / scores;
    const bool measured = timings[i].measured();
    report.table.push_back(
        {shape_words(sizes), entry.label, fmt::format("{:.0f}", predicted.blocks),
         fmt::format("{:.2f}", predicted.waves), percent(predicted.busy_sms),
         percent(predicted.warp_slots), fmt::format("{:.3g}", predicted.shared_bytes * 1e-9),
         fmt::format("{:.2f}", per_score), format_seconds(predicted.seconds),
         measured ? format_seconds(timings[i].seconds) : "-",
         measured ? format_seconds(timings[i].spread_seconds) : "-",
         shown(tflops_of(entry, timings[i]), "{:.0f}")});
    report.records.rows.push_back(
        {double(sizes.batch), double(sizes.heads), double(sizes.seqlen_q), double(sizes.seqlen_kv),
         std::string(enum_name(entry.config.family)), double(std::max(1, sizes.num_splits)),
         predicted.blocks, double(predicted.blocks_per_sm), predicted.waves, predicted.busy_sms,
         predicted.warp_slots, predicted.shared_bytes, per_score, predicted.seconds,
         seconds_of(timings[i]), measured ? Value(timings[i].spread_seconds) : Value(),
         tflops_of(entry, timings[i]), canonical_text(entry.config)});
  }
  report.notes = failure_notes(cases, timings);
  for (const PeerFigure& figure : peers.peak_share) {
    report.notes.push_back(fmt::format("published: {} reaches {} to {} of the peak rate ({})",
                                       figure.peer, percent(figure.least), percent(figure.most),
                                       figure.source));
  }
  for (const std::string& line : peers.cited({"fa2_paper"})) report.notes.push_back(line);
  return report;
}

Plot parallelism_plot(const CsvTable& csv, const Peers& /*peers*/) {
  Plot plot{.title = "Few heads: blocks over heads, query tiles, splits",
            .x_name = "",
            .y_name = "milliseconds of one call",
            .logarithmic_y = true};
  plot.about = about_lines("bf16, head dim 128, full mask; batch x heads, queries x keys", csv);
  for (std::size_t row = 0; row < csv.size(); ++row) {
    const int batch = csv.whole(row, "batch"), heads = csv.whole(row, "heads");
    const std::string label = fmt::format("{} x {} heads, {} x {}", batch, heads,
                                          csv.whole(row, "seqlen_q"), csv.whole(row, "seqlen_kv"));
    BarGroup& group = group_of(plot, label);
    const auto seconds = csv.figure(row, "seconds");
    constexpr double kMilliseconds = 1e3;
    if (!seconds) continue;
    group.bars.emplace_back(series_of(plot, csv.text(row, "kernel"), csv.whole(row, "num_splits")),
                            *seconds * kMilliseconds);
  }
  plot.notes.emplace_back(
      "fa1: blocks over heads alone; fa2: over query tiles too; splits: over parts of the keys "
      "too, "
      "combining them in the time. One kernel of each family; no figures of others");
  add_command(plot, csv);
  return plot;
}

}  // namespace heddle
