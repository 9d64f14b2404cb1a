#include "cli/report_page.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "cli/report_charts.hpp"
#include "cli/report_data.hpp"
#include "cli/report_knobs.hpp"
#include "cli/terminal.hpp"
#include "generator/cost_model.hpp"
#include "generator/template_library.hpp"

namespace heddle {

/// Generated from report.css at build time.
std::span<const EmbeddedTemplate> embedded_style();

namespace {

/// As HTML that may be broken after each knob. The family is always named.
std::string config_text(const KernelConfig& config) {
  std::string text = canonical_text(config);
  if (config.family == KernelConfig{}.family) {
    text = fmt::format("family={}{}{}", enum_name(config.family), text.empty() ? "" : ",", text);
  }
  std::string html = "<code>";
  for (const char c : escape_html(text))
    html += c == ',' ? std::string(",<wbr>") : std::string(1, c);
  return html + "</code>";
}

std::string section(const std::string& title, const std::string& body) {
  return body.empty() ? "" : "<h2>" + title + "</h2>\n" + body;
}

std::string overview(const std::vector<Measurement>& rows, const std::vector<TuningView>& tunings) {
  const auto count = [&](Evidence evidence) {
    return std::count_if(rows.begin(), rows.end(),
                         [&](const Measurement& row) { return row.evidence == evidence; });
  };
  std::map<std::string, int> devices;
  for (const Measurement& row : rows) ++devices[row.device.name];
  std::string names;
  for (const auto& [name, number] : devices) names += (names.empty() ? "" : ", ") + name;
  return fmt::format("<p>{}: {} tunings; {} rows measured, {} predicted, {} failed.</p>\n",
                     escape_html(names.empty() ? "no device" : names), tunings.size(),
                     count(Evidence::kMeasured), count(Evidence::kPredicted),
                     count(Evidence::kFailed));
}

/// Of problems that differ in nothing that a tuning depends on.
std::string place_of(const TuningView& tuning) {
  return canonical_text(tuning.problem.variant) + '\n' + canonical_text(tuning.problem.sizes) +
         '\n' + canonical_text(tuning.device) + (tuning.rows.front().warm ? "\nwarm" : "");
}

std::string title_of(const TuningView& tuning) {
  return problem_title(tuning.problem) + (tuning.rows.front().warm ? ", warm inputs" : "");
}

/// The last tuning of each problem and device, which is the one that answers. A finished one stands
/// before one that is not.
std::vector<const TuningView*> latest(const std::vector<TuningView>& tunings) {
  std::vector<const TuningView*> list;
  std::map<std::string, bool> seen;
  for (const bool finished : {true, false}) {
    for (const TuningView& tuning : tunings) {
      if (!tuning.winner || tuning.finished != finished) continue;
      if (!std::exchange(seen[place_of(tuning)], true)) list.push_back(&tuning);
    }
  }
  return list;
}

DeviceLimits limits_of(const DeviceClass& device) {
  const DeviceLimits* row = row_for_capability(device.capability_major, device.capability_minor);
  DeviceLimits limits = row != nullptr ? *row : DeviceLimits{};
  limits.sm_count = device.sm_count;
  return limits;
}

/// Where a winner stands under its roof; all in TFLOP/s and FLOP per byte. 0 = unknown.
struct Standing {
  double intensity = 0;
  double reached = 0;
  double peak = 0;
  double slope = 0;

  double share() const {
    const double roof = std::min(peak, intensity * slope);
    return roof > 0 ? reached / roof : 0;
  }
};

Standing standing_of(const TuningView& tuning) {
  const Problem& problem = tuning.problem;
  const DeviceLimits limits = limits_of(tuning.device);
  const double flops = flop_count(problem), bytes = minimal_bytes(problem);
  const double seconds = tuning.winner->median_seconds;
  Standing standing;
  if (bytes > 0) standing.intensity = flops / bytes;
  if (seconds > 0) standing.reached = flops / seconds * 1e-12;
  const Family family = tuning.winner->config.family;
  standing.peak = tensor_flops_per_clock(family, problem.variant.dtype, limits) * limits.sm_count *
                  limits.clock_ghz * 1e-3;
  standing.slope = limits.hbm_bytes_per_second * 1e-12;
  return standing;
}

std::string percent(double share, int digits) {
  return share > 0 ? fmt::format("{:.{}f} %", 100 * share, digits) : "-";
}

std::string winners_table(const std::vector<const TuningView*>& tunings) {
  std::vector<std::vector<std::string>> rows;
  for (const TuningView* tuning : tunings) {
    const Measurement& winner = *tuning->winner;
    const Standing standing = standing_of(*tuning);
    const double speedup = tuning->speedup();
    rows.push_back({fmt::format("<a href=\"#{}\">{}</a>{}", escape_html(winner.tuning),
                                escape_html(title_of(*tuning)),
                                tuning->finished ? "" : " <span class=quiet>(not finished)</span>"),
                    tuning->base ? format_seconds(tuning->base->median_seconds) : "-",
                    format_seconds(winner.median_seconds),
                    speedup > 0 ? fmt::format("{:.3f}x", speedup) : "-", percent(tuning->noise, 2),
                    standing.reached > 0 ? fmt::format("{:.1f}", standing.reached) : "-",
                    percent(standing.share(), 0), config_text(winner.config)});
  }
  if (rows.empty()) return {};
  return "<p class=quiet>Gain is the default's time over the winner's, the median of samples taken "
         "in turns, so not quite the quotient of the two medians. Noise is what two copies of one "
         "kernel differed by. The roof is the lower of the tensor rate of the winner's family and "
         "the datasheet's HBM rate, each tensor read or written once.</p>\n" +
         table({{"problem"},
                {"default", true},
                {"winner", true},
                {"gain", true},
                {"noise", true},
                {"TFLOP/s", true},
                {"of roof", true},
                {"config"}},
               rows);
}

std::string noise_text(const std::vector<const TuningView*>& tunings) {
  std::vector<double> noises;
  for (const TuningView* tuning : tunings) {
    if (tuning->noise > 0) noises.push_back(tuning->noise);
  }
  if (noises.empty()) return {};
  std::sort(noises.begin(), noises.end());
  return fmt::format("<p>Noise floor: median {:.2f} %, greatest {:.2f} %.</p>\n",
                     100 * noises[noises.size() / 2], 100 * noises.back());
}

std::string gains(std::vector<const TuningView*> tunings) {
  std::erase_if(tunings, [](const TuningView* tuning) { return !(tuning->speedup() > 0); });
  if (tunings.empty()) return {};
  std::stable_sort(tunings.begin(), tunings.end(), [](const auto* left, const auto* right) {
    return left->speedup() > right->speedup();
  });
  std::vector<Bar> bars;
  double logarithms = 0;
  for (const TuningView* tuning : tunings) {
    const double speedup = tuning->speedup();
    bars.push_back({title_of(*tuning), speedup,
                    fmt::format("{:.3f}x{}", speedup, tuning->gain_is_told() ? "" : " ~")});
    logarithms += std::log(speedup);
  }
  const auto told = std::count_if(tunings.begin(), tunings.end(),
                                  [](const TuningView* tuning) { return tuning->gain_is_told(); });
  return fmt::format(
             "<p>Geometric mean {:.3f}x, worst {:.3f}x, over {} problems; {} of them gain more "
             "than their noise floor, the others are marked ~. Bars begin at 1.</p>\n",
             std::exp(logarithms / static_cast<double>(tunings.size())), tunings.back()->speedup(),
             tunings.size(), told) +
         noise_text(tunings) + bar_list(bars, {1});
}

/// Of one device; winners on others have other roofs.
std::string roofline(const std::vector<const TuningView*>& tunings) {
  std::map<std::string, std::map<std::string, ChartSeries>> devices;
  for (const TuningView* tuning : tunings) {
    const Standing standing = standing_of(*tuning);
    if (!(standing.intensity > 0 && standing.reached > 0)) continue;
    const std::string name = fmt::format("{} {}", enum_name(tuning->winner->config.family),
                                         enum_name(tuning->problem.variant.dtype));
    ChartSeries& series = devices[tuning->device.name][name];
    series.name = fmt::format("{}: tensor rate {:.0f} TFLOP/s", name, standing.peak);
    series.peak = standing.peak;
    series.slope = standing.slope;
    series.points.push_back({standing.intensity, standing.reached,
                             fmt::format("{}: {:.1f} TFLOP/s, {} of its roof", title_of(*tuning),
                                         standing.reached, percent(standing.share(), 0))});
  }
  std::string text;
  for (const auto& [device, by_name] : devices) {
    std::vector<ChartSeries> series;
    for (const auto& [name, each] : by_name) series.push_back(each);
    text += "<h3>" + escape_html(device) + "</h3>\n" + roofline_chart(series);
  }
  return text;
}

std::string knobs_table(const std::vector<const TuningView*>& tunings) {
  std::vector<std::vector<std::string>> rows;
  for (const KnobValue& entry : knob_summary(tunings)) {
    rows.push_back({escape_html(entry.knob + " = " + entry.value), std::to_string(entry.tunings),
                    std::to_string(entry.wins), fmt::format("{:.3f}x", entry.mean_cost),
                    fmt::format("{:.3f}x", entry.worst_cost)});
  }
  if (rows.empty()) return {};
  return "<p class=quiet>Over the tunings that tried a value beside others: how many, in how many "
         "the winner has it, and the best time with it over the best of all, as geometric mean and "
         "at worst.</p>\n" +
         table({{"value"}, {"tunings", true}, {"wins", true}, {"mean", true}, {"worst", true}},
               rows);
}

/// All on one scale, so that a long bar is a knob that matters.
std::string knobs(const TuningView& tuning) {
  constexpr double kFullBar = 1.5;
  std::string text, quiet;
  for (const KnobEffect& effect : knob_effects(tuning)) {
    if (effect.span() <= 1 + tuning.noise) {
      quiet += (quiet.empty() ? "" : ", ") + effect.knob;
      continue;
    }
    std::vector<Bar> bars;
    for (const auto& [value, factor] : effect.values) {
      bars.push_back({effect.knob + " = " + value, factor, fmt::format("{:.3f}x", factor)});
    }
    text += bar_list(bars, {1, kFullBar});
  }
  if (!quiet.empty()) text += "<p class=quiet>Inside the noise: " + escape_html(quiet) + "</p>\n";
  if (text.empty()) return {};
  return "<h3>Knobs: the best time with each value, over the best of all (full bar: 1.5x)</h3>\n" +
         text;
}

std::string failures(const std::vector<Measurement>& rows) {
  std::vector<std::vector<std::string>> lines;
  for (const auto& [reason, kind] : failures_by_reason(rows)) {
    const Measurement& example = kind.example;
    lines.push_back(
        {escape_html(reason), std::to_string(kind.count),
         fmt::format("{}: {}: {}", escape_html(problem_title({example.variant, example.sizes})),
                     config_text(example.config), escape_html(example.failure))});
  }
  return table({{"reason"}, {"rows", true}, {"first of them"}}, lines);
}

std::string tuning_details(const TuningView& tuning) {
  std::vector<Point> points;
  for (const auto& step : tuning.convergence()) {
    points.push_back(
        {step.seconds, step.relative,
         fmt::format("after {:.1f} s: {:.3f} of the default's time", step.seconds, step.relative)});
  }
  const Measurement& last = tuning.rows.back();
  const auto failed = std::count_if(tuning.rows.begin(), tuning.rows.end(), [](const auto& row) {
    return row.evidence == Evidence::kFailed;
  });
  return fmt::format(
      "<details><summary>{}, {}</summary>\n<p class=quiet id=\"{}\">{} configs measured, {} "
      "failed; noise floor {}; {}; heddle {}, driver {}, NVRTC {}<br><code>{}</code></p>\n{}{}"
      "</details>\n",
      escape_html(title_of(tuning)), escape_html(tuning.when), escape_html(last.tuning),
      tuning.results.size(), failed, percent(tuning.noise, 2), escape_html(tuning.device.name),
      escape_html(last.provenance.heddle_version), escape_html(last.provenance.driver_version),
      escape_html(last.provenance.nvrtc_version), escape_html(last.provenance.command),
      step_chart(points, "seconds", "best time / default's"), knobs(tuning));
}

}  // namespace

std::string report_page(const std::vector<Measurement>& rows) {
  const auto tunings = tunings_of(rows);
  const auto last = latest(tunings);
  std::string details;
  for (const TuningView& tuning : tunings) details += tuning_details(tuning);
  return "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n<meta name=viewport "
         "content=\"width=device-width, initial-scale=1\">\n<title>heddle: tuning report</title>\n"
         "<style>\n" +
         std::string(embedded_style().front().text) + "</style>\n<h1>Tuning report</h1>\n" +
         overview(rows, tunings) + section("Winners", winners_table(last)) +
         section("Default against tuned", gains(last)) + section("Roofline", roofline(last)) +
         section("Knobs", knobs_table(last)) + section("Failures by reason", failures(rows)) +
         section("Tunings", details) + "</html>\n";
}

}  // namespace heddle
