#include <cmath>

#include <fmt/format.h>

#include "cli/explain/explain_text.hpp"
#include "cli/explain/timeline_text.hpp"
#include "cli/terminal.hpp"
#include "generator/knobs.hpp"

namespace heddle {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string indented(const std::string& text, int columns) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    result +=
        std::string(static_cast<std::size_t>(columns), ' ') + text.substr(at, end - at) + '\n';
    at = end + 1;
  }
  return result;
}

std::string exact_bytes(long long bytes) {
  return fmt::format("{} B", bytes);
}

Rows memory_rows(const std::vector<MemoryItem>& items) {
  Rows rows;
  for (const MemoryItem& item : items) {
    rows.push_back({exact_bytes(item.bytes), item.name, item.detail});
  }
  return rows;
}

/// Which queries and keys a block has.
std::string tiling(const Explanation& explanation, const PartExplanation& part) {
  const KernelConfig& config = explanation.config;
  const LaunchPlan& plan = explanation.plan;
  const std::string rows =
      plan.packed_heads > 1
          ? fmt::format("{} rows ({} queries of {} query heads that share a KV head)",
                        config.tile_m, plan.tile_queries, plan.packed_heads)
          : fmt::format("{} query rows of a head", config.tile_m);
  const std::string walk =
      plan.num_splits > 1 ? fmt::format("one of {} parts of the keys ({} tiles), {} keys at a time",
                                        plan.num_splits, plan.split_tiles, config.tile_n)
                          : fmt::format("the head's keys, {} at a time", config.tile_n);
  switch (part.launch.part) {
    case KernelPart::kUnfusedScores:
      return fmt::format("S = Q K^T: a block keeps {}, and walks {}; S goes to HBM", rows, walk);
    case KernelPart::kUnfusedSoftmax:
      return fmt::format(
          "P = softmax(S): a block takes {} rows of S from HBM and writes P over them",
          unfused_softmax_rows_per_block());
    case KernelPart::kUnfusedOutput:
      return fmt::format("O = P V: a block has {} of O, and walks {}", rows, walk);
    case KernelPart::kSplitCombine:
      return fmt::format("a block takes {} query rows and adds up what {} splits left of each",
                         combine_rows_per_block(), plan.num_splits);
    case KernelPart::kFa1Attention:
      return fmt::format(
          "a block has a whole head: tiles of {} one after the other, each past {}; S and P never "
          "leave the SM",
          rows, walk);
    default:
      return fmt::format("a block keeps {} and walks {}; S and P never leave the SM", rows, walk);
  }
}

std::string memory_of(const Explanation& explanation, const PartExplanation& part) {
  const DeviceLimits& limits = explanation.limits;
  std::string text =
      fmt::format("  {}: {}\n", enum_name(part.launch.part), tiling(explanation, part));
  if (!part.memory.registers.empty()) {
    text += fmt::format("    registers of a block: {} B of {} on an SM\n",
                        total_bytes(part.memory.registers), limits.registers_per_sm * 4) +
            indented(format_table(memory_rows(part.memory.registers)), 6);
  }
  if (!part.memory.shared.empty()) {
    text += fmt::format("    shared memory of a block: {} B of {} that it can have\n",
                        total_bytes(part.memory.shared), limits.shared_bytes_per_block) +
            indented(format_table(memory_rows(part.memory.shared)), 6);
  }
  return text;
}

std::string tiles_section(const Explanation& explanation) {
  std::string text = "\n1. Tiles, and where they live\n";
  for (const PartExplanation& part : explanation.parts) text += memory_of(explanation, part);
  return text + fmt::format("  in HBM: {} B\n", total_bytes(explanation.hbm)) +
         indented(format_table(memory_rows(explanation.hbm)), 4);
}

std::string product_of(const GridFacts& grid) {
  std::string text;
  for (const GridFactor& factor : grid.factors) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " x ", factor.count, factor.name);
  }
  return text;
}

std::string grid_of(const Explanation& explanation, const PartExplanation& part) {
  const GridFacts& grid = part.grid;
  const DeviceLimits& limits = explanation.limits;
  std::string text =
      fmt::format("  {}: {} = {} ", enum_name(part.launch.part), product_of(grid), grid.pieces);
  if (grid.persistent) {
    text += fmt::format("pieces of work, which {} blocks of {} threads {}\n", grid.blocks,
                        grid.threads, grid.drawn ? "draw as they come to them" : "walk by turns");
  } else {
    text += fmt::format("blocks of {} threads\n", grid.threads);
  }
  text += fmt::format(
      "    occupancy: {} block(s) on an SM ({} fit, limited by {}); {} of {} warps, {:.0f} %\n",
      grid.blocks_on_sm, grid.residency.blocks, grid.limited_by,
      grid.blocks_on_sm * grid.threads / 32, limits.threads_per_sm / 32, 100 * grid.occupancy);
  text += fmt::format("    {:.2f} waves of the {} blocks that run at the same time; ", grid.waves,
                      grid.slots);
  text += grid.waves <= 1 ? fmt::format("{} of {} SMs have work\n", grid.sms_used, limits.sm_count)
                          : fmt::format("the last fills {:.0f} %\n", 100 * grid.last_wave);
  if (part.timeline.steps > 0) {
    text += fmt::format("    key tiles of each: {:.1f} on average, {:.0f} at most\n",
                        grid.mean_steps, grid.longest_steps);
  }
  return text;
}

std::string period_of(const Exchange& exchange) {
  return fmt::format("{} a {}", exchange.times, enum_name(exchange.period));
}

/// What a base is, and when it moves.
std::string running_max_of(const PartExplanation& part, RunningMax running_max) {
  if (part.launch.part != KernelPart::kFa2Attention &&
      part.launch.part != KernelPart::kFa3Attention) {
    return {};
  }
  std::string when;
  switch (running_max) {
    case RunningMax::kEveryBlock:
      when = "is its maximum so far, with every key tile";
      break;
    case RunningMax::kLazy:
      when =
          "moves only once a maximum exceeds it far (at most by 2^8; of 8-bit inputs by 2^4), or "
          "by more than the row's "
          "sum "
          "so far bears";
      break;
    case RunningMax::kCheckedSum:
      when = "comes from the first key tiles; later ones are only checked by what they add";
      break;
  }
  return fmt::format(
      "    running_max={}: a row's base, which is taken off the exponents, {};\n      O is "
      "multiplied "
      "anew when it moves\n",
      enum_name(running_max), when);
}

std::string warps_of(const PartExplanation& part, RunningMax running_max) {
  std::string text = fmt::format("  {}\n", enum_name(part.launch.part));
  for (const Role& role : part.roles) {
    text += fmt::format("    {} ({} warp{}): {}\n      {}\n", role.name, role.warps,
                        role.warps == 1 ? "" : "s", role.owns, role.does);
  }
  text += running_max_of(part, running_max);
  Rows rows{{"barrier", "kind", "how often", "threads waiting", "bytes exchanged"}};
  for (const Exchange& exchange : part.exchanges) {
    const bool none = exchange.kind == BarrierKind::kNone;
    rows.push_back({exchange.name, std::string(enum_name(exchange.kind)),
                    none ? "-" : period_of(exchange), none ? "-" : std::to_string(exchange.threads),
                    exchange.bytes == 0 ? "-" : exact_bytes(exchange.bytes)});
  }
  // Below each barrier what it is for, which would make a column too wide.
  const std::string table = format_table(rows);
  std::size_t at = table.find('\n') + 1;
  text += "    " + table.substr(0, at);
  for (const Exchange& exchange : part.exchanges) {
    const std::size_t end = table.find('\n', at) + 1;
    text += "    " + table.substr(at, end - at) + "      " + exchange.what + '\n';
    at = end;
  }
  return text;
}

/// Why there are gaps in the drawing.
std::string waiting_of(const Timeline& line) {
  constexpr double kAlike = 0.01;
  std::string text = fmt::format(
      "  each span as long as it takes: alone they would come to {:.0f} cycles a key tile. The "
      "gaps "
      "(waiting)\n  are for barriers, latencies and work in turn (section 6), so that a key tile "
      "is "
      "as long as predicted\n",
      line.work_cycles);
  if (line.work_cycles >= line.step_cycles) {
    text = fmt::format(
        "  each span as long as it takes: they come to {:.0f} cycles a key tile, for here each "
        "load "
        "and store\n  waits for the one before, which the prediction does not count\n",
        line.work_cycles);
  } else if (std::abs(line.drawn_cycles / line.step_cycles - 1) > kAlike) {
    text += fmt::format("  (nearly: it is drawn {:.0f} long)\n", line.drawn_cycles);
  }
  return text;
}

std::string overlap_of(const PartExplanation& part) {
  const Timeline& line = part.timeline;
  if (line.lanes.empty()) {
    return fmt::format("  {}: no tiles; warps stream rows, and only other warps' loads overlap\n",
                       enum_name(part.launch.part));
  }
  std::string text =
      fmt::format("  {}: a block's first key tiles, to scale; then {:.0f} cycles for each of {}\n",
                  enum_name(part.launch.part), line.step_cycles, line.steps) +
      waiting_of(line);
  if (line.blocks_left_out > 0) {
    text += fmt::format("  {} more block(s) on the SM do the same, and are not drawn\n",
                        line.blocks_left_out);
  }
  return text + indented(timeline_text(line), 4);
}

/// "5 a key tile, 100352 B exchanged": of all barriers that warps meet at.
std::string barriers_of(const PartExplanation& part) {
  int times = 0;
  long long bytes = 0;
  for (const Exchange& exchange : part.exchanges) {
    if (exchange.period != Period::kKeyTile) continue;
    times += exchange.times;
    bytes += exchange.bytes;
  }
  if (times == 0) return "no barriers";
  const std::string exchanged =
      bytes == 0 ? "warps exchange nothing" : exact_bytes(bytes) + " exchanged between warps";
  return fmt::format("{} barrier(s) a key tile, {}", times, exchanged);
}

std::string brief_part(const Explanation& explanation, const PartExplanation& part) {
  const GridFacts& grid = part.grid;
  std::string text = fmt::format(
      "  {}\n    tiles    {}\n             registers {} B and shared memory {} B of a block, {} "
      "stage(s) of tiles\n",
      enum_name(part.launch.part), tiling(explanation, part), total_bytes(part.memory.registers),
      total_bytes(part.memory.shared), explanation.config.stages);
  if (part.timeline.lanes.empty()) {
    text = fmt::format("  {}\n    tiles    {}\n", enum_name(part.launch.part),
                       tiling(explanation, part));
  }
  text +=
      fmt::format("    blocks   {} = {}; {} of {} SMs have work, {} warps on each, {:.2f} waves\n",
                  product_of(grid), grid.pieces, grid.sms_used, explanation.limits.sm_count,
                  grid.blocks_on_sm * grid.threads / 32, grid.waves);
  for (const Role& role : part.roles) {
    text += fmt::format("    warps    {}: {}\n", role.name,
                        role.owns == kNoRows ? role.does : role.owns);
  }
  text += fmt::format("    meet at  {}\n", barriers_of(part));
  if (part.timeline.lanes.empty()) return text;
  return text + fmt::format("    overlap  {:.0f} cycles a key tile\n", part.timeline.step_cycles) +
         indented(timeline_text(part.timeline), 6);
}

}  // namespace

std::string brief_questions_text(const Explanation& explanation) {
  std::string text;
  for (const PartExplanation& part : explanation.parts) text += brief_part(explanation, part);
  return text;
}

std::string knobs_text(const KernelConfig& config, const Variant& variant) {
  std::string text;
  for_each_field(config, [&](const auto& knob, const auto& value) {
    if (!knob_applies(knob.name, config.family, variant)) return;
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", knob.name, value_text(value));
  });
  return text;
}

std::string questions_text(const Explanation& explanation) {
  if (explanation.parts.empty()) return "\nnothing to compute: nothing is launched\n";
  std::string text = tiles_section(explanation);
  text += "\n2. Blocks over batch, heads, queries and splits\n";
  for (const PartExplanation& part : explanation.parts) text += grid_of(explanation, part);
  text += "\n3. Warps, and what they exchange\n";
  for (const PartExplanation& part : explanation.parts) {
    text += warps_of(part, explanation.config.running_max);
  }
  text += "\n4. What overlaps what\n";
  for (const PartExplanation& part : explanation.parts) text += overlap_of(part);
  return text;
}

}  // namespace heddle
