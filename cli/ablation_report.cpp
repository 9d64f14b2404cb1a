#include "cli/ablation_report.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>
#include <nlohmann/json.hpp>

#include "cli/terminal.hpp"
#include "generator/error.hpp"
#include "generator/field.hpp"
#include "generator/template_library.hpp"

namespace heddle {

/// The YAML files of bench/ that the command prints; written by cmake.
std::span<const EmbeddedTemplate> embedded_figures();

namespace {

struct AblationName {
  Ablation ablation;
  const char* key;  ///< in YAML and JSON
  const char* title;
};
constexpr AblationName kNames[] = {
    {Ablation::kNothing, "all_on", "all on"},
    {Ablation::kPingPong, "no_ping_pong", "no ping-pong"},
    {Ablation::kOverlap, "no_overlap", "no overlap"},
    {Ablation::kWarpSpecialisation, "no_warp_specialisation", "no warp specialisation"},
    {Ablation::kTurnsAndSpecialisation, "no_ping_pong_no_warp_specialisation",
     "no ping-pong, no warp specialisation"}};

double tflops_at(double seconds) {
  return flop_count(pipeline_problem()) / seconds * 1e-12;
}

/// Half of what lies between the quartiles' rates.
double half_spread(const Timing& timing) {
  return tflops_at(timing.median_seconds) * timing.spread_seconds / timing.median_seconds / 2;
}

/// The fastest kernel with this off.
std::size_t best_of(Ablation ablation, const std::vector<AblationKernel>& kernels,
                    const std::vector<Timing>& timings) {
  std::size_t best = kernels.size();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].ablation != ablation) continue;
    if (best == kernels.size() || timings[i].median_seconds < timings[best].median_seconds)
      best = i;
  }
  return best;
}

/// Names of tiles in order of appearance.
std::vector<std::string> tiles_of(const std::vector<AblationKernel>& kernels) {
  std::vector<std::string> tiles;
  for (const AblationKernel& kernel : kernels) {
    if (tiles.empty() || tiles.back() != kernel.tile) tiles.push_back(kernel.tile);
  }
  return tiles;
}

std::string cell(const Timing& timing) {
  return fmt::format("{:.0f} +-{:.0f}", tflops_at(timing.median_seconds), half_spread(timing));
}

}  // namespace

PublishedAblation published_ablation() {
  const auto files = embedded_figures();
  const auto file = std::find_if(files.begin(), files.end(), [](const EmbeddedTemplate& entry) {
    return entry.name == "fa3_ablation.yaml";
  });
  if (file == files.end()) throw Error(ErrorCode::kInternal, "fa3_ablation.yaml", "not embedded");
  const YAML::Node node = YAML::Load(std::string(file->text));
  PublishedAblation published{node["source"].as<std::string>(),
                              node["device"].as<std::string>(),
                              node["problem"].as<std::string>(),
                              {}};
  for (const AblationName& name : kNames) {
    const YAML::Node figure = node["tflops"][name.key];
    if (figure) published.tflops[name.ablation] = figure.as<double>();
  }
  return published;
}

std::string ablation_table(const std::vector<AblationKernel>& kernels,
                           const std::vector<Timing>& timings, const PublishedAblation& published) {
  std::vector<std::string> header{"TFLOP/s"};
  for (const std::string& tile : tiles_of(kernels)) header.push_back(tile);
  header.insert(header.end(), {"best", "of all on", "published", "of all on"});
  std::vector<std::vector<std::string>> rows{header};
  const double all_on =
      tflops_at(timings[best_of(Ablation::kNothing, kernels, timings)].median_seconds);
  for (const AblationName& name : kNames) {
    std::vector<std::string> row{name.title};
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (kernels[i].ablation == name.ablation) row.push_back(cell(timings[i]));
    }
    const std::size_t best = best_of(name.ablation, kernels, timings);
    const double rate = tflops_at(timings[best].median_seconds);
    row.push_back(fmt::format("{:.0f}: {}", rate, kernels[best].tile));
    row.push_back(fmt::format("{:.2f}", rate / all_on));
    const auto figure = published.tflops.find(name.ablation);
    if (figure == published.tflops.end()) {
      row.insert(row.end(), {"-", "-"});
    } else {
      row.push_back(fmt::format("{:.0f}", figure->second));
      row.push_back(
          fmt::format("{:.2f}", figure->second / published.tflops.at(Ablation::kNothing)));
    }
    rows.push_back(row);
  }
  return format_table(rows) + fmt::format("\npublished: {}; {}; {}\n", published.source,
                                          published.device, published.problem);
}

std::string ablation_json(const std::vector<AblationKernel>& kernels,
                          const std::vector<Timing>& timings, const PublishedAblation& published) {
  auto list = nlohmann::json::array();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto& name = kNames[static_cast<std::size_t>(kernels[i].ablation)];
    list.push_back({{"ablation", name.key},
                    {"tile", kernels[i].tile},
                    {"config", canonical_text(kernels[i].config)},
                    {"seconds", timings[i].median_seconds},
                    {"spread_seconds", timings[i].spread_seconds},
                    {"clock_mhz", timings[i].clock_mhz},
                    {"tflops", tflops_at(timings[i].median_seconds)}});
  }
  auto figures = nlohmann::json::object();
  for (const auto& [ablation, rate] : published.tflops) {
    figures[kNames[static_cast<std::size_t>(ablation)].key] = rate;
  }
  const nlohmann::json json{{"kernels", list},
                            {"published",
                             {{"source", published.source},
                              {"device", published.device},
                              {"problem", published.problem},
                              {"tflops", figures}}}};
  return json.dump(2) + "\n";
}

}  // namespace heddle
