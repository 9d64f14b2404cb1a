#include <cmath>

#include <fmt/format.h>

#include "cli/explain/explain_text.hpp"
#include "cli/terminal.hpp"

namespace heddle {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string teraflops(double flops_per_second) {
  return fmt::format("{:.1f} TFLOP/s", flops_per_second * 1e-12);
}

struct NamedBytes {
  const char* name;
  double bytes;
};

std::string traffic_line(const Explanation& explanation) {
  HbmTraffic sum;
  for (const PartExplanation& part : explanation.parts) {
    const HbmTraffic& hbm = part.prediction.work.hbm;
    sum.query += hbm.query;
    sum.key_value += hbm.key_value;
    sum.output += hbm.output;
    sum.scores_written += hbm.scores_written + hbm.scores_read;
    sum.probabilities_written += hbm.probabilities_written + hbm.probabilities_read;
    sum.partials_written += hbm.partials_written + hbm.partials_read;
  }
  const NamedBytes items[] = {{"Q", sum.query},
                              {"K and V", sum.key_value},
                              {"O", sum.output},
                              {"S", sum.scores_written},
                              {"P", sum.probabilities_written},
                              {"partial results", sum.partials_written}};
  std::string text;
  for (const NamedBytes& item : items) {
    if (item.bytes == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", item.name, format_bytes(item.bytes));
  }
  return text;
}

std::string reuse_line(const Explanation& explanation) {
  for (const PartExplanation& part : explanation.parts) {
    const KeyValueReuse& reuse = part.prediction.work.hbm.reuse;
    if (part.prediction.work.hbm.key_value == 0) continue;
    if (reuse.passes == 1) {
      return fmt::format(
          "  L2: all blocks of a KV head run at the same time, each key tile serves them while it "
          "is "
          "in L2: K and V\n  ({}) cross HBM once, and need not stay\n",
          format_bytes(reuse.bytes_once));
    }
    if (reuse.lost == 0) {
      return fmt::format(
          "  L2: the KV heads that are worked on at the same time have {} of K and V, and {} of L2 "
          "can keep it\n  from one pass to the next: K and V cross HBM once\n",
          format_bytes(reuse.working_set), format_bytes(reuse.usable_l2));
    }
    return fmt::format(
        "  L2: the KV heads that are worked on at the same time have {} of K and V, of which {} of "
        "L2 "
        "can keep a part;\n  {:.1f} passes over them, of which each but the first reads {:.0f} % "
        "from HBM again\n",
        format_bytes(reuse.working_set), format_bytes(reuse.usable_l2), reuse.passes,
        100 * reuse.lost);
  }
  return {};
}

std::string ceilings_table(const Explanation& explanation) {
  Rows rows{{"  if only bound by", "time", "allows", "share of the prediction"}};
  for (const Ceiling& ceiling : explanation.roofline.ceilings) {
    rows.push_back(
        {"  " + ceiling.name, format_seconds(ceiling.seconds),
         ceiling.name != "launch" && ceiling.seconds > 0 ? teraflops(ceiling.flops_per_second)
                                                         : "-",
         fmt::format("{:.0f} %", 100 * ceiling.seconds / explanation.prediction.seconds)});
  }
  std::string text =
      format_table(rows) +
      "  issue: instructions of all warps on the SM's four schedulers; L2: what the SMs ask of it, "
      "or, where\n  that is longer, what passes between them and HBM; load latency: loads in a "
      "row, "
      "as far as blocks do\n  not ask ahead; ";
  text +=
      explanation.config.family == Family::kFa3
          ? "shared memory: what the TMA writes; what wgmma reads there is\n  part of its rate, "
            "and so of tensor\n"
          : "shared memory: tiles written and read, and what warps\n  exchange\n";
  const GridFacts& grid = explanation.parts.front().grid;
  if (grid.sms_used < explanation.limits.sm_count) {
    text += fmt::format(
        "  tensor, exp, issue and shared memory: of the {} of {} SMs that have a block\n",
        grid.sms_used, explanation.limits.sm_count);
  }
  return text;
}

std::string outcome_lines(const Explanation& explanation, const std::optional<Timing>& measured) {
  const double flops = explanation.roofline.flops;
  const double predicted = explanation.prediction.seconds;
  std::string text = fmt::format(
      "  predicted {}, {}, {:.0f} % of the tensor cores' peak; the lowest ceiling: {}\n",
      format_seconds(predicted), teraflops(flops / predicted),
      100 * flops / predicted / explanation.roofline.peak_flops,
      lowest_ceilings(explanation.roofline));
  if (!measured) return text;
  const double seconds = measured->median_seconds;
  return text + fmt::format(
                    "  measured  {} +-{}, {}, at {:.0f} MHz: {:.2f} of the prediction; {}/s "
                    "of the bytes that HBM is predicted to carry\n",
                    format_seconds(seconds), format_seconds(measured->spread_seconds / 2),
                    teraflops(flops / seconds), measured->clock_mhz, seconds / predicted,
                    format_bytes(explanation.roofline.hbm_bytes / seconds));
}

constexpr double kLeastShown = 0.005;  ///< of the time, to have a line

bool l2_is_hidden(const Explanation& explanation) {
  return explanation.roofline.binding == "L2" &&
         explanation.shares[TimeShare::kL2] < kLeastShown * explanation.shares.total();
}

std::string shares_section(const Explanation& explanation) {
  constexpr int kBar = 30;
  std::string text =
      "\n6. Where the predicted time goes\n"
      "  tensor cores, exponentials, issue and shared memory overlap: the slowest is charged "
      "whole, "
      "of the\n  others what it does not hide (work in turn). L2 is charged only where it takes "
      "longer "
      "than all that\n  with its barriers, and then alone. Of HBM and the SMs' work the longer is "
      "charged whole, the other 10 %.\n";
  if (l2_is_hidden(explanation)) {
    text += fmt::format(
        "  Here L2, the lowest ceiling, runs beside the SMs' work, which with its barriers and "
        "work "
        "in turn takes\n  longer: it has no line.\n");
  }
  Rows rows;
  const double total = explanation.shares.total();
  for (std::size_t i = 0; i < kTimeShareCount; ++i) {
    const auto share = static_cast<TimeShare>(i);
    const double part = explanation.shares[share] / total;
    if (part < kLeastShown) continue;
    rows.push_back({"  " + std::string(enum_name(share)), fmt::format("{:.0f} %", 100 * part),
                    std::string(static_cast<std::size_t>(std::lround(part * kBar)), '#')});
  }
  text += format_table(rows);
  if (explanation.parts.size() < 2) return text;
  Rows parts;
  for (const PartExplanation& part : explanation.parts) {
    const double seconds = part.prediction.seconds + part.prediction.launch_seconds;
    parts.push_back(
        {"  " + std::string(enum_name(part.launch.part)), format_seconds(seconds),
         std::string(static_cast<std::size_t>(std::lround(seconds / total * kBar)), '#')});
  }
  return text + "  launch after launch:\n" + format_table(parts);
}

/// What a change makes smaller, or, where it makes all slower, larger.
std::string main_change(const TimeShares& before, const TimeShares& after) {
  const bool faster = after.total() < before.total();
  const ShareChange most = faster ? most_shrunk(before, after) : most_grown(before, after);
  if (most.before == most.after) return "nothing that the model counts changes";
  return fmt::format("mostly {} {} -> {}", enum_name(most.share), format_seconds(most.before),
                     format_seconds(most.after));
}

std::string knobs_section(const Explanation& explanation) {
  constexpr std::size_t kShown = 3;
  std::string text = "\n7. One knob further\n";
  const double now = explanation.prediction.seconds;
  std::size_t legal = 0;
  Rows rows;
  for (const KnobStep& step : explanation.knob_steps) {
    if (!step.illegal.empty()) continue;
    if (++legal > kShown) continue;
    rows.push_back({"  " + step.change, format_seconds(step.seconds),
                    fmt::format("{:+.1f} %", 100 * (step.seconds / now - 1)),
                    main_change(explanation.shares, step.shares)});
  }
  const std::size_t all = explanation.knob_steps.size();
  const bool gains = legal > 0 && explanation.knob_steps.front().seconds < now;
  text += fmt::format("  {} of {} neighbours are legal; ", legal, all);
  text += gains ? fmt::format("the best, {}, is predicted {:.1f} % faster\n",
                              explanation.knob_steps.front().change,
                              100 * (1 - explanation.knob_steps.front().seconds / now))
                : std::string("none is predicted faster\n");
  return text + format_table(rows);
}

}  // namespace

std::string roofline_text(const Explanation& explanation, const std::optional<Timing>& measured) {
  if (explanation.parts.empty()) return {};
  const Roofline& roof = explanation.roofline;
  std::string text = "\n5. Roofline\n";
  text += fmt::format(
      "  {:.4g} FLOP asked for, {:.4g} in the tensor cores' whole tiles\n"
      "  {} over HBM ({} if each tensor went once): {}\n",
      roof.flops, roof.issued_flops, format_bytes(roof.hbm_bytes), format_bytes(roof.least_bytes),
      traffic_line(explanation));
  text += reuse_line(explanation);
  text += fmt::format(
      "  intensity {:.1f} FLOP/B; were all SMs at work, from {:.1f} on the tensor cores\n"
      "  ({} at {} GHz) would bind, not HBM\n"
      "  ({}/s: {:.0f} % of the datasheet's {}/s, as much as a plain copy reaches)\n",
      roof.intensity, roof.ridge, teraflops(roof.peak_flops), explanation.limits.clock_ghz,
      format_bytes(roof.usable_hbm), 100 * roof.usable_hbm / roof.hbm_rate,
      format_bytes(roof.hbm_rate));
  return text + outcome_lines(explanation, measured) + ceilings_table(explanation) +
         shares_section(explanation) + knobs_section(explanation);
}

}  // namespace heddle
