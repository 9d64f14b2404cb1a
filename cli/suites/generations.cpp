#include "cli/suites/generations.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/suites/sweep.hpp"

namespace heddle {
namespace {

struct Generation {
  const char* name;
  DataType dtype;
  Family family;
  Tint tint;
  const char* peer;  ///< in peers.yaml, with its source; null = none
  const char* source;
};
constexpr Generation kGenerations[] = {
    {"unfused", DataType::kBf16, Family::kUnfused, Tint::kGrey, "unfused", "torch"},
    {"fa1", DataType::kBf16, Family::kFa1, Tint::kPurple, nullptr, nullptr},
    {"fa2", DataType::kBf16, Family::kFa2, Tint::kGreen, "FA2", "torch"},
    {"fa3", DataType::kBf16, Family::kFa3, Tint::kBlue, "FA3", "fa3_alone"},
    {"fp8", DataType::kE4m3, Family::kFa3, Tint::kOrange, "FA3", "fa3_alone"}};
const std::vector<std::string> kSources{"fa3_alone", "torch"};
constexpr std::size_t kCount = std::size(kGenerations);

std::string peer_name(const Generation& generation) {
  const bool is_fp8 = generation.dtype == DataType::kE4m3;
  return std::string(generation.peer) + (is_fp8 ? " fp8" : "") + " (peer)";
}

std::optional<double> peer_tflops(const Generation& generation, const Problem& problem,
                                  const Peers& peers) {
  if (generation.peer == nullptr) return std::nullopt;
  return peers.forward_tflops(generation.peer, generation.source, problem.variant,
                              problem.sizes.seqlen_q);
}

/// Those of this run, then those of others.
std::vector<Series> plot_series() {
  std::vector<Series> all;
  for (const Generation& generation : kGenerations) {
    all.push_back({generation.name, generation.tint});
  }
  for (const Generation& generation : kGenerations) {
    const std::string name = generation.peer != nullptr ? peer_name(generation) : "";
    all.push_back({name, generation.tint, true, {}, name.substr(0, name.find(" (peer)"))});
  }
  return all;
}

std::size_t generation_at(const CsvTable& csv, std::size_t row) {
  std::string known;
  for (std::size_t g = 0; g < kCount; ++g) {
    if (csv.text(row, "generation") == kGenerations[g].name) return g;
    known += (g == 0 ? "" : ", ") + std::string(kGenerations[g].name);
  }
  csv.refuse(row, "generation", "is none of " + known);
}

}  // namespace

std::vector<std::vector<SuiteCase>> generation_cases(const std::vector<int>& lengths,
                                                     const FamilyChooser& choose) {
  std::vector<std::vector<SuiteCase>> cells;
  for (const int head_dim : {64, 128}) {
    for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
      for (const int length : lengths) {
        cells.emplace_back();
        for (const Generation& generation : kGenerations) {
          cells.back().push_back(
              choose(sweep_problem(generation.dtype, head_dim, mask, length), generation.family));
          cells.back().back().label = generation.name;
        }
      }
    }
  }
  return cells;
}

BenchSuiteReport generation_report(const std::vector<SuiteCase>& cases,
                                   const std::vector<SuiteTiming>& timings, const Peers& peers) {
  BenchSuiteReport report;
  report.suite = "generations";
  report.method = {
      "TFLOP/s; 16384 tokens in all, heads * head_dim = 2048, bf16 (fp8: e4m3, V in rows); FLOPs "
      "4 * batch * heads * length^2 * head_dim, halved for causal",
      "median of samples timed by events, launch cost hidden, L2 cold, the five interleaved; each "
      "kernel is the stored winner of its family at or near this size, else the family's default",
      "(peer): measured by others, not in this run; sources below"};
  report.table = {{"problem"}};
  for (const Generation& generation : kGenerations) report.table[0].push_back(generation.name);
  for (const Generation& generation : kGenerations) {
    if (generation.peer != nullptr) report.table[0].push_back(peer_name(generation));
  }
  report.records.columns = {"head_dim",   "mask",        "length",         "batch",     "heads",
                            "generation", "seconds",     "spread_seconds", "clock_mhz", "tflops",
                            "peer",       "peer_tflops", "match",          "config"};
  for (std::size_t first = 0; first + kCount <= cases.size(); first += kCount) {
    const Problem& problem = cases[first].problem;
    const Variant& variant = problem.variant;
    const std::string title = panel_title(variant);
    std::vector<std::string> row{fmt::format("{} {}", title, problem.sizes.seqlen_q)}, others;
    for (std::size_t g = 0; g < kCount; ++g) {
      const SuiteCase& entry = cases[first + g];
      const SuiteTiming& timing = timings[first + g];
      const Value other = value_of(peer_tflops(kGenerations[g], entry.problem, peers));
      row.push_back(shown(tflops_of(entry, timing), "{:.0f}"));
      if (kGenerations[g].peer != nullptr) others.push_back(shown(other, "{:.0f}"));
      report.records.rows.push_back(
          {double(variant.head_dim), std::string(enum_name(variant.mask)),
           double(problem.sizes.seqlen_q), double(problem.sizes.batch), double(problem.sizes.heads),
           entry.label, seconds_of(timing),
           timing.measured() ? Value(timing.spread_seconds) : Value(),
           timing.clock_mhz > 0 ? Value(timing.clock_mhz) : Value(), tflops_of(entry, timing),
           kGenerations[g].peer != nullptr ? Value(peer_name(kGenerations[g])) : Value(), other,
           std::string(enum_name(entry.match)), canonical_text(entry.config)});
    }
    row.insert(row.end(), others.begin(), others.end());
    report.table.push_back(row);
  }
  report.notes = failure_notes(cases, timings);
  for (const std::string& line : peers.cited(kSources)) report.notes.push_back(line);
  return report;
}

Plot generation_plot(const CsvTable& csv, const Peers& peers) {
  Plot plot{.title = "Attention forward: each generation of kernels on one GPU",
            .x_name = "length of a sequence, tokens",
            .y_name = "TFLOP/s",
            .logarithmic_x = true};
  plot.about = about_lines(
      "bf16 (fp8: e4m3), 16384 tokens in all, heads x head dim = 2048. d: head dim", csv);
  for (std::size_t row = 0; row < csv.size(); ++row) {
    Panel& panel = panel_of(plot, panel_title(variant_at(csv, row)), plot_series());
    const std::size_t generation = generation_at(csv, row);
    const double length = csv.number(row, "length");
    add_point(panel.series[generation], length, csv.figure(row, "tflops"));
    add_point(panel.series[kCount + generation], length, csv.figure(row, "peer_tflops"));
  }
  add_sources(plot,
              "dashed, hollow (peer): measured by others in other runs, FA3 by fa3_alone, the rest "
              "by torch",
              peers, kSources);
  add_command(plot, csv);
  return plot;
}

}  // namespace heddle
