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

std::vector<std::string> decode_sources(const Peers& peers) {
  std::set<std::string> sources;
  for (const PeerDecode& entry : peers.decode) sources.insert(entry.source);
  return {sources.begin(), sources.end()};
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
  for (const std::string& line : peers.cited(decode_sources(peers))) report.notes.push_back(line);
  return report;
}

Plot decode_plot(const CsvTable& csv, const Peers& peers) {
  Plot plot{.title = "Decoding: how fast K and V are read",
            .y_name = "GB/s of K and V",
            .bar_series = {{"heddle", Tint::kBlue}}};
  plot.about =
      about_lines("bf16, 32 query heads over 8 KV heads, head dim 128, one query, cold L2", csv);
  std::vector<std::string> peer_columns;
  for (const std::string& column : csv.columns()) {
    constexpr std::string_view kUnit = " gbps";
    if (column.size() <= kUnit.size() || !column.ends_with(kUnit)) continue;
    const std::string name = column.substr(0, column.size() - kUnit.size());
    const Tint tint = kPeerTints[peer_columns.size() % std::size(kPeerTints)];
    plot.bar_series.push_back({name, tint, true});
    peer_columns.push_back(column);
  }
  for (std::size_t row = 0; row < csv.size(); ++row) {
    BarGroup& group = group_of(plot, fmt::format("batch {}, {} keys", csv.whole(row, "batch"),
                                                 csv.whole(row, "seqlen_kv")));
    add_bar(group, 0, csv.figure(row, "gbps"));
    for (std::size_t p = 0; p < peer_columns.size(); ++p) {
      add_bar(group, p + 1, csv.figure(row, peer_columns[p]));
    }
  }
  add_sources(
      plot,
      "dashed, hollow: measured by others in other runs, of these FA3 cold L2 alone with a cold L2",
      peers, decode_sources(peers));
  add_command(plot, csv);
  return plot;
}

}  // namespace heddle
