#include "cli/suites/ablation.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

namespace heddle {
namespace {

struct AblationName {
  Ablation ablation;
  const char* key;  ///< in peers.yaml, CSV and JSON
  const char* title;
};
constexpr AblationName kNames[] = {
    {Ablation::kNothing, "all_on", "all on"},
    {Ablation::kPingPong, "no_ping_pong", "no ping-pong"},
    {Ablation::kOverlap, "no_overlap", "no overlap"},
    {Ablation::kWarpSpecialisation, "no_warp_specialisation", "no warp specialisation"},
    {Ablation::kTurnsAndSpecialisation, "no_ping_pong_no_warp_specialisation",
     "no ping-pong, no warp specialisation"}};

const AblationName& name_of(Ablation ablation) {
  return kNames[static_cast<std::size_t>(ablation)];
}

Value rate_of(const SuiteTiming& timing) {
  if (!timing.measured()) return {};
  return flop_count(pipeline_problem()) / timing.seconds * 1e-12;
}

/// The fastest kernel with this off; as many as there are where none was measured.
std::size_t best_of(Ablation ablation, const std::vector<AblationKernel>& kernels,
                    const std::vector<SuiteTiming>& timings) {
  std::size_t best = kernels.size();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].ablation != ablation || !timings[i].measured()) continue;
    if (best == kernels.size() || timings[i].seconds < timings[best].seconds) best = i;
  }
  return best;
}

Value best_rate(Ablation ablation, const std::vector<AblationKernel>& kernels,
                const std::vector<SuiteTiming>& timings) {
  const std::size_t best = best_of(ablation, kernels, timings);
  return best < kernels.size() ? rate_of(timings[best]) : Value();
}

Value published_rate(Ablation ablation, const Peers& peers) {
  const PeerFigure* figure = find_figure(peers.ablation_tflops, name_of(ablation).key);
  return figure != nullptr ? Value(figure->most) : Value();
}

/// Names of tiles in order of appearance.
std::vector<std::string> tiles_of(const std::vector<AblationKernel>& kernels) {
  std::vector<std::string> tiles;
  for (const AblationKernel& kernel : kernels) {
    if (tiles.empty() || tiles.back() != kernel.tile) tiles.push_back(kernel.tile);
  }
  return tiles;
}

/// The rate and half of what lies between the quartiles' rates.
std::string cell(const SuiteTiming& timing) {
  if (!timing.measured()) return "-";
  const double rate = std::get<double>(rate_of(timing));
  return fmt::format("{:.0f} +-{:.0f}", rate, rate * timing.spread_seconds / timing.seconds / 2);
}

/// Of the ablation's lines the highest rate, and what was published of it.
struct AblationRates {
  std::optional<double> best, published;
};
std::map<std::string, AblationRates> rates_of(const CsvTable& csv) {
  std::map<std::string, AblationRates> rates;
  for (const AblationName& name : kNames) rates[name.key];
  for (std::size_t row = 0; row < csv.size(); ++row) {
    const auto found = rates.find(csv.text(row, "ablation"));
    if (found == rates.end()) csv.refuse(row, "ablation", "is none of this suite's");
    AblationRates& entry = found->second;
    entry.best = std::max(entry.best, csv.figure(row, "tflops"));
    if (const auto rate = csv.figure(row, "published_tflops")) entry.published = rate;
  }
  return rates;
}

}  // namespace

std::vector<SuiteCase> ablation_cases(const std::vector<AblationKernel>& kernels) {
  std::vector<SuiteCase> cases;
  for (const AblationKernel& kernel : kernels) {
    cases.push_back({fmt::format("{}, {}", name_of(kernel.ablation).title, kernel.tile),
                     pipeline_problem(), kernel.config});
  }
  return cases;
}

BenchSuiteReport ablation_report(const std::vector<AblationKernel>& kernels,
                                 const std::vector<SuiteTiming>& timings, const Peers& peers) {
  BenchSuiteReport report;
  report.suite = "fa3-pipeline";
  report.method = {
      problem_words(pipeline_problem()) + "; TFLOP/s, median and half the interquartile range",
      "row maximum with every block, all kernels interleaved, launch cost hidden"};
  std::vector<std::string> header{"TFLOP/s"};
  for (const std::string& tile : tiles_of(kernels)) header.push_back(tile);
  header.insert(header.end(), {"best", "of all on", "published", "of all on"});
  report.table = {header};
  const Value all_on = best_rate(Ablation::kNothing, kernels, timings);
  const Value published_all_on = published_rate(Ablation::kNothing, peers);
  for (const AblationName& name : kNames) {
    std::vector<std::string> row{name.title};
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (kernels[i].ablation == name.ablation) row.push_back(cell(timings[i]));
    }
    const std::size_t best = best_of(name.ablation, kernels, timings);
    const Value rate = best_rate(name.ablation, kernels, timings);
    const Value published = published_rate(name.ablation, peers);
    row.push_back(best < kernels.size() ? shown(rate, "{:.0f}: ") + kernels[best].tile : "-");
    row.insert(row.end(), {shown(quotient(rate, all_on), "{:.2f}"), shown(published, "{:.0f}"),
                           shown(quotient(published, published_all_on), "{:.2f}")});
    report.table.push_back(row);
  }
  report.records.columns = {"ablation",  "tile",   "seconds",          "spread_seconds",
                            "clock_mhz", "tflops", "published_tflops", "config"};
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const SuiteTiming& timing = timings[i];
    report.records.rows.push_back(
        {std::string(name_of(kernels[i].ablation).key), kernels[i].tile, seconds_of(timing),
         timing.measured() ? Value(timing.spread_seconds) : Value(),
         timing.clock_mhz > 0 ? Value(timing.clock_mhz) : Value(), rate_of(timing),
         published_rate(kernels[i].ablation, peers), canonical_text(kernels[i].config)});
  }
  report.notes = failure_notes(ablation_cases(kernels), timings);
  for (const std::string& line : peers.cited({"fa3_paper"})) {
    report.notes.push_back("published: " + line);
  }
  return report;
}

Plot ablation_plot(const CsvTable& csv, const Peers& peers) {
  Plot plot{.title = "fa3 with a part of its pipeline off: the best tile of each",
            .y_name = "TFLOP/s",
            .bar_series = {{"heddle", Tint::kBlue}, {"published", Tint::kOrange, true}}};
  plot.about = about_lines(problem_words(pipeline_problem()) + ", forward", csv);
  const auto rates = rates_of(csv);
  for (const AblationName& name : kNames) {
    BarGroup& group = group_of(plot, name.title);
    add_bar(group, 0, rates.at(name.key).best);
    add_bar(group, 1, rates.at(name.key).published);
  }
  add_sources(plot, "published (dashed, hollow): measured by others", peers, {"fa3_paper"});
  add_command(plot, csv);
  return plot;
}

}  // namespace heddle
