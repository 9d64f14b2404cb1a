#include "cli/explain/explain_json.hpp"

namespace heddle {
namespace {

using nlohmann::json;

template <class Item, class Convert>
json list_of(const std::vector<Item>& items, Convert convert) {
  json list = json::array();
  for (const Item& item : items) list.push_back(convert(item));
  return list;
}

template <class Enum>
std::string name_of(Enum value) {
  return std::string(enum_name(value));
}

json memory_json(const std::vector<MemoryItem>& items) {
  return list_of(items, [](const MemoryItem& item) {
    return json{{"name", item.name}, {"bytes", item.bytes}, {"detail", item.detail}};
  });
}

json grid_json(const GridFacts& grid) {
  return {{"factors", list_of(grid.factors,
                              [](const GridFactor& factor) {
                                return json{{"name", factor.name}, {"count", factor.count}};
                              })},
          {"pieces", grid.pieces},
          {"blocks", grid.blocks},
          {"threads", grid.threads},
          {"persistent", grid.persistent},
          {"blocks_that_fit_an_sm", grid.residency.blocks},
          {"limited_by", grid.limited_by},
          {"blocks_on_sm", grid.blocks_on_sm},
          {"waves", grid.waves},
          {"last_wave", grid.last_wave},
          {"sms_used", grid.sms_used},
          {"occupancy", grid.occupancy},
          {"mean_key_tiles", grid.mean_steps},
          {"most_key_tiles", grid.longest_steps}};
}

json roles_json(const std::vector<Role>& roles) {
  return list_of(roles, [](const Role& role) {
    return json{
        {"name", role.name}, {"warps", role.warps}, {"owns", role.owns}, {"does", role.does}};
  });
}

json exchanges_json(const std::vector<Exchange>& exchanges) {
  return list_of(exchanges, [](const Exchange& exchange) {
    return json{{"name", exchange.name},       {"kind", name_of(exchange.kind)},
                {"times", exchange.times},     {"period", name_of(exchange.period)},
                {"threads", exchange.threads}, {"groups", exchange.groups},
                {"bytes", exchange.bytes},     {"what", exchange.what}};
  });
}

json timeline_json(const Timeline& line) {
  const auto span_json = [](const Span& span) {
    return json{{"activity", name_of(span.activity)},
                {"key_tile", span.step},
                {"begin", span.begin},
                {"end", span.end}};
  };
  return {{"step_cycles", line.step_cycles},
          {"drawn_cycles", line.drawn_cycles},
          {"wait_cycles", line.wait_cycles},
          {"work_cycles", line.work_cycles},
          {"key_tiles", line.steps},
          {"lanes", list_of(line.lanes, [&](const Lane& lane) {
             return json{{"name", lane.name}, {"spans", list_of(lane.spans, span_json)}};
           })}};
}

json traffic_json(const HbmTraffic& hbm) {
  return {{"query", hbm.query},
          {"key_value", hbm.key_value},
          {"output", hbm.output},
          {"scores_written", hbm.scores_written},
          {"scores_read", hbm.scores_read},
          {"probabilities_written", hbm.probabilities_written},
          {"probabilities_read", hbm.probabilities_read},
          {"partials_written", hbm.partials_written},
          {"partials_read", hbm.partials_read},
          {"key_value_passes", hbm.reuse.passes},
          {"key_value_working_set", hbm.reuse.working_set},
          {"usable_l2", hbm.reuse.usable_l2},
          {"lost_between_passes", hbm.reuse.lost}};
}

json part_json(const PartExplanation& part) {
  return {{"part", name_of(part.launch.part)},
          {"predicted_seconds", part.prediction.seconds + part.prediction.launch_seconds},
          {"registers", memory_json(part.memory.registers)},
          {"shared", memory_json(part.memory.shared)},
          {"shared_bytes", part.launch.shared_bytes},
          {"grid", grid_json(part.grid)},
          {"roles", roles_json(part.roles)},
          {"exchanges", exchanges_json(part.exchanges)},
          {"timeline", timeline_json(part.timeline)},
          {"hbm_bytes", traffic_json(part.prediction.work.hbm)}};
}

json shares_json(const TimeShares& shares) {
  json object = json::object();
  for (std::size_t i = 0; i < kTimeShareCount; ++i) {
    object[name_of(static_cast<TimeShare>(i))] = shares.seconds[i];
  }
  return object;
}

json roofline_json(const Roofline& roof) {
  return {{"flops", roof.flops},
          {"issued_flops", roof.issued_flops},
          {"peak_flops", roof.peak_flops},
          {"hbm_bytes", roof.hbm_bytes},
          {"least_bytes", roof.least_bytes},
          {"hbm_bytes_per_second", roof.hbm_rate},
          {"usable_hbm_bytes_per_second", roof.usable_hbm},
          {"intensity", roof.intensity},
          {"ridge", roof.ridge},
          {"binding", roof.binding},
          {"ceilings", list_of(roof.ceilings, [](const Ceiling& ceiling) {
             return json{{"name", ceiling.name},
                         {"seconds", ceiling.seconds},
                         {"flops_per_second", ceiling.flops_per_second}};
           })}};
}

json knob_json(const KnobStep& step) {
  json object{{"change", step.change}, {"config", canonical_text(step.config)}};
  if (step.illegal.empty()) {
    object["predicted_seconds"] = step.seconds;
    object["time_seconds"] = shares_json(step.shares);
  } else {
    object["illegal"] = step.illegal;
  }
  return object;
}

json timing_json(const Timing& timing) {
  return {{"seconds", timing.median_seconds},
          {"spread_seconds", timing.spread_seconds},
          {"clock_mhz", timing.clock_mhz}};
}

/// The keys that the command had first, by which scripts may know it.
json summary_json(const Explanation& explanation) {
  json object{{"config", canonical_text(explanation.config)},
              {"architecture", explanation.limits.architecture},
              {"clock_ghz", explanation.limits.clock_ghz},
              {"workspace_bytes", explanation.plan.workspace_bytes},
              {"num_splits", explanation.plan.num_splits},
              {"predicted_seconds", explanation.prediction.seconds},
              {"binding", std::string(explanation.prediction.binding)},
              {"waves", explanation.prediction.waves},
              {"hbm_bytes", explanation.prediction.hbm_bytes},
              {"launches", json::array()}};
  for (const Ceiling& ceiling : explanation.roofline.ceilings) {
    object["terms"][ceiling.name] = ceiling.seconds;
  }
  for (const PartExplanation& part : explanation.parts) {
    object["launches"].push_back({{"part", name_of(part.launch.part)},
                                  {"blocks", part.launch.grid},
                                  {"threads", part.launch.threads},
                                  {"shared_bytes", part.launch.shared_bytes}});
  }
  return object;
}

}  // namespace

nlohmann::json explanation_json(const Explanation& explanation,
                                const std::optional<Timing>& measured) {
  json object = summary_json(explanation);
  object["hbm"] = memory_json(explanation.hbm);
  object["parts"] = list_of(explanation.parts, part_json);
  object["roofline"] = roofline_json(explanation.roofline);
  object["time_seconds"] = shares_json(explanation.shares);
  object["knob_steps"] = list_of(explanation.knob_steps, knob_json);
  if (measured) object["measured"] = timing_json(*measured);
  return object;
}

nlohmann::json generations_json(const std::vector<Generation>& generations,
                                const std::vector<std::optional<Timing>>& measured) {
  json object{{"generations", json::array()}, {"steps", json::array()}};
  for (std::size_t i = 0; i < generations.size(); ++i) {
    const Generation& each = generations[i];
    json entry{{"family", name_of(each.family)}};
    if (each.impossible.empty()) {
      entry["explanation"] =
          explanation_json(each.explanation, measured.empty() ? std::nullopt : measured[i]);
    } else {
      entry["impossible"] = each.impossible;
    }
    object["generations"].push_back(entry);
  }
  for (const GenerationStep& step : generation_steps(generations)) {
    object["steps"].push_back(
        {{"from", name_of(generations[step.from].family)},
         {"to", name_of(generations[step.to].family)},
         {"gain", step.gain},
         {"bottleneck", name_of(step.bottleneck)},
         {"removed", name_of(step.removed.share)},
         {"removed_before_seconds", step.removed.before},
         {"removed_after_seconds", step.removed.after},
         {"causes", share_causes(step.removed.share, generations[step.from].explanation,
                                 generations[step.to].explanation)},
         {"largest_then", name_of(step.exposed)}});
  }
  return object;
}

}  // namespace heddle
