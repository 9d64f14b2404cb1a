#include "cli/suites/bottlenecks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/suites/sweep.hpp"
#include "cli/terminal.hpp"

namespace heddle {
namespace {

constexpr double kNearPoints = 5;
/// A unit that is less busy than this holds nobody up: what does is a chain of waits.
constexpr double kBusyPercent = 60;

constexpr GpuUnit kUnits[] = {GpuUnit::kTensor, GpuUnit::kExponential, GpuUnit::kIssue,
                              GpuUnit::kShared, GpuUnit::kL2,          GpuUnit::kHbm};
constexpr Tint kTints[] = {Tint::kBlue,   Tint::kOrange, Tint::kGreen,
                           Tint::kPurple, Tint::kSky,    Tint::kGrey};

struct StallMeaning {
  const char* stall;
  std::vector<std::string> ceilings;
};
/// Which ceilings a wait speaks for, after Nsight Compute's "Warp Stall Reasons". Barriers, fixed
/// latencies and sleeping speak for none.
const std::vector<StallMeaning>& stall_meanings() {
  static const std::vector<StallMeaning> meanings{
      {"gmma", {"tensor"}},
      {"math_pipe_throttle", {"tensor", "exp", "issue"}},
      {"not_selected", {"issue"}},
      {"mio_throttle", {"shared memory", "exp"}},
      {"short_scoreboard", {"shared memory", "exp"}},
      {"lg_throttle", {"L2", "HBM"}},
      {"long_scoreboard", {"load latency", "L2", "HBM"}}};
  return meanings;
}

std::optional<GpuUnit> unit_of(const std::string& ceiling) {
  for (const GpuUnit unit : kUnits) {
    if (ceiling == ceiling_of(unit)) return unit;
  }
  return std::nullopt;
}

bool stall_speaks_for(const std::string& ceiling, const std::string& stall) {
  for (const StallMeaning& meaning : stall_meanings()) {
    if (stall != meaning.stall) continue;
    return std::find(meaning.ceilings.begin(), meaning.ceilings.end(), ceiling) !=
           meaning.ceilings.end();
  }
  return false;
}

Agreement agreement_of_one(const std::string& ceiling, const UnitCounters& counters,
                           GpuUnit busiest) {
  const double most = *counters.of(busiest);
  const auto unit = unit_of(ceiling);
  if (unit == busiest) return Agreement::kPipe;
  if (unit && counters.of(*unit) && *counters.of(*unit) >= most - kNearPoints) {
    return Agreement::kNear;
  }
  // A busy unit is the better witness: idle warps wait too.
  const bool waits = most < kBusyPercent && stall_speaks_for(ceiling, counters.top_stall());
  return waits ? Agreement::kStall : Agreement::kNone;
}

Value top_stall_value(const UnitCounters& counters) {
  const std::string stall = counters.top_stall();
  return stall.empty() ? Value() : Value(stall);
}

std::string verdict(const std::vector<Agreement>& agreements) {
  const auto count = [&](Agreement wanted) {
    return std::count(agreements.begin(), agreements.end(), wanted);
  };
  const auto pipe = count(Agreement::kPipe), near = count(Agreement::kNear),
             stall = count(Agreement::kStall), unknown = count(Agreement::kUnknown);
  return fmt::format(
      "the ceiling named agrees with the profiler in {} of {}: {} busiest, {} within "
      "{:.0f} points of it, {} by what warps wait for; {} without counters",
      pipe + near + stall, agreements.size(), pipe, near, kNearPoints, stall, unknown);
}

/// The figures of both tables, rounded or not.
struct Line {
  std::string named;
  double share = 0;  ///< of the prediction, that the ceiling alone would take
  std::vector<std::optional<double>> busy;
  UnitCounters counters;
};

Line line_of(const Bottleneck& each) {
  Line line{lowest_ceilings(each.roof), 0, {}, each.counters.value_or(UnitCounters{})};
  double longest = 0;
  for (const Ceiling& ceiling : each.roof.ceilings) longest = std::max(longest, ceiling.seconds);
  if (each.predicted_seconds > 0) line.share = longest / each.predicted_seconds;
  line.busy.assign(line.counters.busy.begin(), line.counters.busy.end());
  line.busy.insert(line.busy.end(), {line.counters.fma, line.counters.alu});
  return line;
}

std::vector<std::string> table_row(const Bottleneck& each, const Line& line, Agreement agreement) {
  const double seconds = line.counters.seconds;
  std::vector<std::string> row{each.entry.label, line.named, fmt::format("{:.2f}", line.share),
                               format_seconds(each.predicted_seconds),
                               seconds > 0 ? format_seconds(seconds) : "-"};
  for (const auto& figure : line.busy) row.push_back(shown(value_of(figure), "{:.0f}"));
  row.insert(row.end(), {shown(top_stall_value(line.counters)), agreement_word(agreement)});
  return row;
}

std::vector<Value> record_row(const Bottleneck& each, const Line& line, Agreement agreement) {
  const double seconds = line.counters.seconds;
  std::vector<Value> row{each.entry.label, line.named, line.share, each.predicted_seconds,
                         seconds > 0 ? Value(seconds) : Value()};
  for (const auto& figure : line.busy) row.push_back(value_of(figure));
  row.insert(row.end(),
             {top_stall_value(line.counters), std::string(agreement_word(agreement)),
              std::string(enum_name(each.entry.match)), canonical_text(each.entry.config)});
  return row;
}

BenchSuiteReport empty_report(const std::string& profiler) {
  BenchSuiteReport report;
  report.suite = "bottlenecks";
  report.method = {
      "16384 tokens in all, heads * head_dim = 2048, bf16 (fp8: e4m3, V in rows); decoding with 32 "
      "query heads over 8 KV heads, d 128; each kernel is the stored winner at or near this size, "
      "else the default",
      "named: the lowest ceiling of `heddle explain`, and the share of its prediction that it "
      "alone "
      "would take; percent of what each unit can do, by the profiler, of several kernels by their "
      "time; stall: what most warps wait for",
      fmt::format("agrees: the unit named is the busiest, or near it ({:.0f} points), or, where "
                  "nothing is busy for {:.0f} %, what warps wait for speaks for it",
                  kNearPoints, kBusyPercent),
      "counters: " + profiler};
  report.table = {{"problem", "named", "of predicted", "predicted", "profiled", "tensor", "exp",
                   "issue", "shared", "L2", "HBM", "fma", "alu", "stall", "agrees"}};
  report.records.columns = {"problem", "named",  "share",  "predicted_seconds",
                            "seconds", "tensor", "exp",    "issue",
                            "shared",  "l2",     "hbm",    "fma",
                            "alu",     "stall",  "agrees", "match",
                            "config"};
  return report;
}

}  // namespace

std::vector<SuiteCase> bottleneck_cases(
    const FamilyChooser& choose, const std::function<SuiteCase(const Problem&)>& choose_any) {
  struct Row {
    const char* label;
    Family family;
    DataType dtype;
    int head_dim;
    MaskKind mask;
    int length;
  };
  constexpr auto kBf16 = DataType::kBf16;
  constexpr auto kFull = MaskKind::kFull, kCausal = MaskKind::kCausal;
  constexpr Row kRows[] = {
      {"unfused d 128 full 4096", Family::kUnfused, kBf16, 128, kFull, 4096},
      {"fa1 d 128 full 16384", Family::kFa1, kBf16, 128, kFull, 16384},
      {"fa2 d 64 full 2048", Family::kFa2, kBf16, 64, kFull, 2048},
      {"fa2 d 128 causal 16384", Family::kFa2, kBf16, 128, kCausal, 16384},
      {"fa3 d 64 full 4096", Family::kFa3, kBf16, 64, kFull, 4096},
      {"fa3 d 128 full 8192", Family::kFa3, kBf16, 128, kFull, 8192},
      {"fa3 d 256 causal 8192", Family::kFa3, kBf16, 256, kCausal, 8192},
      {"fp8 d 128 full 8192", Family::kFa3, DataType::kE4m3, 128, kFull, 8192}};
  std::vector<SuiteCase> cases;
  for (const Row& row : kRows) {
    cases.push_back(
        choose(sweep_problem(row.dtype, row.head_dim, row.mask, row.length), row.family));
    cases.back().label = row.label;
  }
  for (const auto& [batch, keys] : {std::pair{1, 32768}, std::pair{64, 4096}}) {
    Problem problem;
    problem.sizes = {.batch = batch, .heads = 32, .kv_heads = 8, .seqlen_kv = keys};
    cases.push_back(choose_any(problem));
    cases.back().label = fmt::format("decoding, {} x {} keys", batch, keys);
  }
  return cases;
}

const char* agreement_word(Agreement agreement) {
  constexpr const char* kWords[] = {"-", "busiest", "near", "stall", "no"};
  return kWords[static_cast<std::size_t>(agreement)];
}

Agreement agreement_of(const std::vector<std::string>& ceilings, const UnitCounters& counters) {
  const auto busiest = counters.busiest();
  if (!busiest) return Agreement::kUnknown;
  Agreement best = Agreement::kNone;
  for (const std::string& ceiling : ceilings) {
    best = std::min(best, agreement_of_one(ceiling, counters, *busiest));
  }
  return best;
}

BenchSuiteReport bottleneck_report(const std::vector<Bottleneck>& found,
                                   const std::string& profiler) {
  BenchSuiteReport report = empty_report(profiler);
  std::vector<Agreement> agreements;
  for (const Bottleneck& each : found) {
    const Line line = line_of(each);
    const Agreement agreement = agreement_of(binding_ceilings(each.roof), line.counters);
    report.table.push_back(table_row(each, line, agreement));
    report.records.rows.push_back(record_row(each, line, agreement));
    agreements.push_back(agreement);
  }
  report.notes = {verdict(agreements)};
  return report;
}

Plot bottleneck_plot(const CsvTable& csv, const Peers& /*peers*/) {
  /// The column of each unit.
  constexpr const char* kColumns[] = {"tensor", "exp", "issue", "shared", "l2", "hbm"};
  Plot plot{.title = "How busy each unit of the GPU is", .y_name = "percent of what it can do"};
  plot.about = about_lines(
      "16384 tokens, heads x head dim = 2048, bf16 (fp8: e4m3); decoding: 32 query heads over 8 KV "
      "heads, d 128. d: head dim",
      csv);
  for (std::size_t u = 0; u < kGpuUnitCount; ++u) {
    plot.bar_series.push_back({ceiling_of(kUnits[u]), kTints[u]});
  }
  for (std::size_t row = 0; row < csv.size(); ++row) {
    BarGroup& group = group_of(plot, csv.text(row, "problem"));
    for (std::size_t u = 0; u < kGpuUnitCount; ++u) {
      add_bar(group, u, csv.figure_or_zero(row, kColumns[u]));
    }
  }
  plot.notes.emplace_back(
      "Nsight Compute, of several kernels each by its time; no figures of others");
  add_command(plot, csv);
  return plot;
}

}  // namespace heddle
