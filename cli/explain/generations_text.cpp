#include "cli/explain/generations_text.hpp"

#include <functional>

#include <fmt/format.h>

#include "cli/explain/explain_text.hpp"
#include "cli/terminal.hpp"

namespace heddle {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// "3.41 ms (54 %)".
std::string share_of(const Explanation& explanation, TimeShare share) {
  return fmt::format("{} ({:.0f} %)", format_seconds(explanation.shares[share]),
                     100 * explanation.shares[share] / explanation.shares.total());
}

long long exchanged_bytes(const Explanation& explanation) {
  long long bytes = 0;
  for (const PartExplanation& part : explanation.parts) {
    for (const Exchange& exchange : part.exchanges) {
      if (exchange.period == Period::kKeyTile) bytes += exchange.bytes;
    }
  }
  return bytes;
}

std::string each_part(const Explanation& explanation,
                      const std::function<std::string(const PartExplanation&)>& text_of) {
  std::string text;
  for (const PartExplanation& part : explanation.parts) {
    text += (text.empty() ? "" : ", ") + text_of(part);
  }
  return text;
}

struct Metric {
  const char* name;
  std::function<std::string(const Explanation&)> text_of;
};

std::vector<Metric> metrics() {
  return {{"predicted", [](const auto& e) { return format_seconds(e.prediction.seconds); }},
          {"TFLOP/s",
           [](const auto& e) {
             return fmt::format("{:.1f}", e.roofline.flops / e.prediction.seconds * 1e-12);
           }},
          {"of the peak of its tensor instructions",
           [](const auto& e) {
             return fmt::format(
                 "{:.0f} %", 100 * e.roofline.flops / e.prediction.seconds / e.roofline.peak_flops);
           }},
          {"over HBM", [](const auto& e) { return format_bytes(e.roofline.hbm_bytes); }},
          {"FLOP per byte of HBM",
           [](const auto& e) { return fmt::format("{:.0f}", e.roofline.intensity); }},
          {"launches", [](const auto& e) { return std::to_string(e.parts.size()); }},
          {"pieces of work",
           [](const auto& e) {
             return each_part(e, [](const auto& p) { return std::to_string(p.grid.pieces); });
           }},
          {"waves",
           [](const auto& e) {
             return each_part(e, [](const auto& p) { return fmt::format("{:.2f}", p.grid.waves); });
           }},
          {"SMs with work",
           [](const auto& e) {
             return each_part(e, [](const auto& p) { return std::to_string(p.grid.sms_used); });
           }},
          {"warps on an SM",
           [](const auto& e) {
             return each_part(e, [](const auto& p) {
               return std::to_string(p.grid.blocks_on_sm * p.grid.threads / 32);
             });
           }},
          {"exchanged by warps, a key tile",
           [](const auto& e) { return format_bytes(static_cast<double>(exchanged_bytes(e))); }},
          {"lowest ceiling", [](const auto& e) { return lowest_ceilings(e.roofline); }},
          {"largest share of the time",
           [](const auto& e) { return std::string(enum_name(e.shares.largest())); }}};
}

std::string table(const std::vector<Generation>& generations,
                  const std::vector<std::optional<Timing>>& measured) {
  Rows rows{{"  "}};
  for (const Generation& each : generations) {
    if (each.impossible.empty()) rows[0].emplace_back(enum_name(each.family));
  }
  for (const Metric& metric : metrics()) {
    rows.push_back({"  " + std::string(metric.name)});
    for (const Generation& each : generations) {
      if (each.impossible.empty()) rows.back().push_back(metric.text_of(each.explanation));
    }
  }
  if (!measured.empty()) {
    rows.push_back({"  measured"});
    for (const auto& timing : measured) {
      if (timing) rows.back().push_back(format_seconds(timing->median_seconds));
    }
  }
  return format_table(rows);
}

/// Less time for about as much of a resource: others hide it, or it is not the slowest any more.
const char* verb_of(const GenerationStep& step) {
  const bool gone = step.removed.after < 0.2 * step.removed.before;
  if (step.less_of_it) return gone ? "removes" : "reduces";
  return gone ? "no longer waits for" : "waits less for";
}

}  // namespace

std::string step_text(const std::vector<Generation>& generations, const GenerationStep& step) {
  const Explanation& before = generations[step.from].explanation;
  const Explanation& after = generations[step.to].explanation;
  const auto from = enum_name(generations[step.from].family);
  const auto to = enum_name(generations[step.to].family);
  std::string text = fmt::format("  {} -> {}: ", from, to);
  text += step.gain >= 1 ? fmt::format("{:.2f} times as fast.\n", step.gain)
                         : fmt::format("{:.2f} times as slow.\n", 1 / step.gain);
  text += fmt::format("    {} spends most on {}: {}.\n", from, enum_name(step.bottleneck),
                      share_of(before, step.bottleneck));
  if (step.removed.after < step.removed.before) {
    text += fmt::format("    {} {} {}, {} -> {} ({}; now {}).\n", to, verb_of(step),
                        step.removed.share == step.bottleneck
                            ? std::string("that")
                            : fmt::format("something else most: {}", enum_name(step.removed.share)),
                        format_seconds(step.removed.before), format_seconds(step.removed.after),
                        share_evidence(step.removed.share, before),
                        share_evidence(step.removed.share, after));
    for (const std::string& cause : share_causes(step.removed.share, before, after)) {
      text += fmt::format("      {}.\n", cause);
    }
  } else {
    text += fmt::format("    {} removes nothing of it here.\n", to);
  }
  if (step.gain < 1 && step.grown.after > step.grown.before) {
    text += fmt::format("    it pays with {}: {} -> {} ({}; now {}).\n",
                        enum_name(step.grown.share), format_seconds(step.grown.before),
                        format_seconds(step.grown.after), share_evidence(step.grown.share, before),
                        share_evidence(step.grown.share, after));
  }
  return text + fmt::format("    what is largest then: {}, {}.\n", enum_name(step.exposed),
                            share_of(after, step.exposed));
}

std::string generations_text(const std::vector<Generation>& generations,
                             const std::vector<std::optional<Timing>>& measured) {
  std::string text = "each family with its config that is predicted fastest:\n";
  for (const Generation& each : generations) {
    const Explanation& facts = each.explanation;
    const bool runs = each.impossible.empty();
    text += fmt::format(
        "\n{}: {}\n", enum_name(each.family),
        runs ? knobs_text(facts.config, facts.problem.variant) : "not here: " + each.impossible);
    if (runs) text += brief_questions_text(facts);
  }
  text += '\n' + table(generations, measured);
  text +=
      "predictions are at the clock above; a card that holds a higher one is faster. What was "
      "measured of the\nkernel that is chosen, explain without --compare prints as stored; "
      "--measure measures all of these.\n";
  const auto steps = generation_steps(generations);
  if (!steps.empty()) text += "\nwhat each removes, and what it leaves (all predicted):\n";
  for (const GenerationStep& step : steps) text += step_text(generations, step);
  return text;
}

}  // namespace heddle
