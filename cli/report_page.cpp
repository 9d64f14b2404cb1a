#include "cli/report_page.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "cli/report_charts.hpp"
#include "cli/report_data.hpp"
#include "cli/terminal.hpp"
#include "generator/cost_model.hpp"
#include "generator/template_library.hpp"

namespace heddle {

/// Generated from report.css at build time.
std::span<const EmbeddedTemplate> embedded_style();

namespace {

std::string config_text(const KernelConfig& config) {
  const std::string text = canonical_text(config);
  return text.empty() ? "family=fa2 (all defaults)" : text;
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

/// The last tuning of each problem and device, which is the one that answers.
std::vector<const TuningView*> latest(const std::vector<TuningView>& tunings) {
  std::vector<const TuningView*> list;
  std::map<std::string, bool> seen;
  for (const TuningView& tuning : tunings) {
    const std::string key = problem_title(tuning.problem) + canonical_text(tuning.device);
    if (tuning.winner && !std::exchange(seen[key], true)) list.push_back(&tuning);
  }
  return list;
}

std::string winners_table(const std::vector<const TuningView*>& tunings) {
  if (tunings.empty()) return {};
  std::string text =
      "<div class=wide><table><tr><th>problem<th class=figure>default<th class=figure>winner<th "
      "class=figure>gain<th class=figure>noise<th>config</tr>\n";
  for (const TuningView* tuning : tunings) {
    const Measurement& winner = *tuning->winner;
    const double speedup = tuning->speedup();
    text += fmt::format(
        "<tr><td>{}{}<td class=figure>{}<td class=figure>{}<td class=figure>{}<td "
        "class=figure>{:.2f} %<td><code>{}</code></tr>\n",
        escape_html(problem_title(tuning->problem)),
        tuning->finished ? "" : " <span class=quiet>(not finished)</span>",
        tuning->base ? format_seconds(tuning->base->median_seconds) : "-",
        format_seconds(winner.median_seconds), speedup > 0 ? fmt::format("{:.3f}x", speedup) : "-",
        100 * tuning->noise, escape_html(config_text(winner.config)));
  }
  return text + "</table></div>\n";
}

std::string gains(const std::vector<const TuningView*>& tunings) {
  std::vector<Bar> bars;
  double logarithms = 0, worst = 0;
  for (const TuningView* tuning : tunings) {
    const double speedup = tuning->speedup();
    if (!(speedup > 0)) continue;
    bars.push_back({problem_title(tuning->problem), speedup, fmt::format("{:.3f}x", speedup)});
    logarithms += std::log(speedup);
    worst = worst == 0 ? speedup : std::min(worst, speedup);
  }
  if (bars.empty()) return {};
  return fmt::format("<p>Geometric mean {:.3f}x, worst {:.3f}x, over {} problems.</p>\n",
                     std::exp(logarithms / static_cast<double>(bars.size())), worst, bars.size()) +
         bar_list(bars);
}

DeviceLimits limits_of(const DeviceClass& device) {
  const DeviceLimits* row = row_for_capability(device.capability_major, device.capability_minor);
  DeviceLimits limits = row != nullptr ? *row : DeviceLimits{};
  limits.sm_count = device.sm_count;
  return limits;
}

/// Of one device; winners on others have other roofs.
std::string roofline(const std::vector<const TuningView*>& tunings) {
  std::string text;
  std::map<std::string, std::vector<const TuningView*>> by_device;
  for (const TuningView* tuning : tunings) by_device[tuning->device.name].push_back(tuning);
  for (const auto& [name, list] : by_device) {
    const DeviceLimits limits = limits_of(list.front()->device);
    std::vector<Point> points;
    std::map<double, Roof> roofs;
    for (const TuningView* tuning : list) {
      const Problem& problem = tuning->problem;
      const double flops = flop_count(problem);
      const double seconds = tuning->winner->median_seconds;
      points.push_back(
          {flops / minimal_bytes(problem), flops / seconds * 1e-12,
           fmt::format("{}: {:.1f} TFLOP/s", problem_title(problem), flops / seconds * 1e-12)});
      const Family family = tuning->winner->config.family;
      const double peak = tensor_flops_per_clock(family, problem.variant.dtype, limits) *
                          limits.sm_count * limits.clock_ghz * 1e-3;
      if (peak > 0 && limits.hbm_bytes_per_second > 0) {
        roofs[peak] = {fmt::format("{} tensor rate {:.0f}", enum_name(family), peak), peak,
                       limits.hbm_bytes_per_second * 1e-12};
      }
    }
    std::vector<Roof> roof_list;
    for (const auto& [peak, roof] : roofs) roof_list.push_back(roof);
    text += "<h3>" + escape_html(name) + "</h3>\n" + roofline_chart(points, roof_list);
  }
  return text;
}

std::string knobs(const TuningView& tuning) {
  std::string text;
  for (const KnobEffect& effect : knob_effects(tuning)) {
    std::vector<Bar> bars;
    for (const auto& [value, factor] : effect.values) {
      bars.push_back({effect.knob + " = " + value, factor, fmt::format("{:.3f}x", factor)});
    }
    text += bar_list(bars, 0.9);
  }
  if (text.empty()) return {};
  return "<h3>Knobs: the best time with each value, over the best of all</h3>\n" + text;
}

std::string tuning_details(const TuningView& tuning) {
  std::vector<Point> points;
  for (const auto& step : tuning.convergence()) {
    points.push_back(
        {step.seconds, step.relative,
         fmt::format("after {:.1f} s: {:.3f} of the default's time", step.seconds, step.relative)});
  }
  return fmt::format(
      "<details><summary>{}, {}</summary>\n<p class=quiet>{} rows, noise floor "
      "{:.2f} %</p>\n{}{}</details>\n",
      escape_html(problem_title(tuning.problem)), escape_html(tuning.when), tuning.rows.size(),
      100 * tuning.noise, step_chart(points, "seconds", "best time / default's"), knobs(tuning));
}

std::string failures(const std::vector<Measurement>& rows) {
  std::vector<Bar> bars;
  for (const auto& [reason, count] : failures_by_reason(rows)) {
    bars.push_back({reason, static_cast<double>(count), std::to_string(count)});
  }
  return bars.empty() ? "" : bar_list(bars);
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
         section("Failures by reason", failures(rows)) + section("Tunings", details) + "</html>\n";
}

}  // namespace heddle
