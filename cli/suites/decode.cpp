#include "cli/suites/decode.hpp"

#include <set>

#include <fmt/format.h>

#include "cli/terminal.hpp"

namespace heddle {
namespace {

constexpr Tint kPeerTints[] = {Tint::kOrange, Tint::kPurple, Tint::kGreen, Tint::kGrey, Tint::kSky};
/// What is measured as this suite does.
constexpr const char* kRival = "FA3 cold L2";

std::string shape_words(const Problem& problem) {
  return fmt::format("{} x {}", problem.sizes.batch, problem.sizes.seqlen_kv);
}

Value gbps_of(const SuiteCase& entry, const SuiteTiming& timing) {
  if (!timing.measured()) return {};
  return key_value_bytes(entry.problem) / timing.seconds * 1e-9;
}

Value peer_gbps(const Peers& peers, const std::string& peer, const Sizes& sizes) {
  return value_of(peers.decode_gbps(peer, sizes.batch, sizes.seqlen_kv));
}

Plot decode_plot(const std::vector<SuiteCase>& cases, const std::vector<SuiteTiming>& timings,
                 const Peers& peers) {
  Plot plot{
      .title = "Decoding: K and V read", .y_name = "GB/s", .bar_series = {{"heddle", Tint::kBlue}}};
  for (std::size_t p = 0; p < peers.decode.size(); ++p) {
    plot.bar_series.push_back(
        {peers.decode[p].peer + " (peer)", kPeerTints[p % std::size(kPeerTints)], true});
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    BarGroup group{"batch " + shape_words(cases[i].problem) + " keys", {}};
    const Value ours = gbps_of(cases[i], timings[i]);
    if (const auto* value = std::get_if<double>(&ours)) group.bars.emplace_back(0, *value);
    for (std::size_t p = 0; p < peers.decode.size(); ++p) {
      const Value theirs = peer_gbps(peers, peers.decode[p].peer, cases[i].problem.sizes);
      if (const auto* value = std::get_if<double>(&theirs)) group.bars.emplace_back(p + 1, *value);
    }
    plot.groups.push_back(group);
  }
  return plot;
}

}  // namespace

double key_value_bytes(const Problem& problem) {
  const Sizes& sizes = problem.sizes;
  return 2.0 * sizes.batch * sizes.resolved_kv_heads() * sizes.seqlen_kv *
         problem.variant.head_dim * element_bytes(problem.variant.dtype);
}

std::vector<SuiteCase> decode_cases(const Peers& peers,
                                    const std::function<SuiteCase(const Problem&)>& choose) {
  std::set<std::pair<int, int>> shapes;
  for (const PeerDecode& entry : peers.decode) {
    for (const auto& [shape, gbps] : entry.gbps) shapes.insert(shape);
  }
  std::vector<SuiteCase> cases;
  for (const auto& [batch, keys] : shapes) {
    Problem problem;
    problem.sizes = {.batch = batch, .heads = 32, .kv_heads = 8, .seqlen_kv = keys};
    cases.push_back(choose(problem));
  }
  return cases;
}

BenchSuiteReport decode_report(const std::vector<SuiteCase>& cases,
                               const std::vector<SuiteTiming>& timings, const Peers& peers) {
  BenchSuiteReport report;
  report.suite = "decode";
  report.method = {
      "bf16, 32 query heads over 8 KV heads, head dim 128, one query a sequence; GB/s of K and V",
      "median of samples timed by events, launch cost hidden, cold L2 (inputs rotate), combining "
      "splits included; the kernel that any caller gets for the shape"};
  report.table = {{"batch x keys", "time", "heddle", std::string("heddle / ") + kRival}};
  for (const PeerDecode& entry : peers.decode) report.table[0].push_back(entry.peer + " (peer)");
  report.table[0].insert(report.table[0].end(), {"match", "config"});
  report.records.columns = {"batch", "seqlen_kv", "seconds", "spread_seconds", "gbps"};
  for (const PeerDecode& entry : peers.decode) {
    report.records.columns.push_back(entry.peer + " gbps");
  }
  report.records.columns.insert(report.records.columns.end(), {"match", "config"});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Sizes& sizes = cases[i].problem.sizes;
    const Value ours = gbps_of(cases[i], timings[i]);
    const bool measured = timings[i].measured();
    std::vector<std::string> row{
        shape_words(cases[i].problem), measured ? format_seconds(timings[i].seconds) : "-",
        shown(ours, "{:.0f}"), shown(quotient(ours, peer_gbps(peers, kRival, sizes)), "{:.2f}")};
    std::vector<Value> record{double(sizes.batch), double(sizes.seqlen_kv), seconds_of(timings[i]),
                              measured ? Value(timings[i].spread_seconds) : Value(), ours};
    for (const PeerDecode& entry : peers.decode) {
      const Value theirs = peer_gbps(peers, entry.peer, sizes);
      row.push_back(shown(theirs, "{:.0f}"));
      record.push_back(theirs);
    }
    const std::string match(enum_name(cases[i].match));
    row.insert(row.end(), {match, canonical_text(cases[i].config)});
    record.insert(record.end(), {Value(match), Value(canonical_text(cases[i].config))});
    report.table.push_back(row);
    report.records.rows.push_back(record);
  }
  report.notes = failure_notes(cases, timings);
  report.plot = decode_plot(cases, timings, peers);
  std::set<std::string> sources;
  for (const PeerDecode& entry : peers.decode) sources.insert(entry.source);
  report.plot.notes = peers.cited({sources.begin(), sources.end()});
  report.notes.insert(report.notes.end(), report.plot.notes.begin(), report.plot.notes.end());
  return report;
}

}  // namespace heddle
