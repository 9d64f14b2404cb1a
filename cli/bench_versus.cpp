#include "cli/bench_versus.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/measure_configs.hpp"
#include "cli/terminal.hpp"
#include "tuner/recording_file.hpp"
#include "tuner/statistics.hpp"
#include "tuning_db/results_store.hpp"

namespace heddle {
namespace {

constexpr std::string_view kRecordingExtension = ".recording";

/// What a database knows of a problem: its winner, then what else was measured fast.
std::vector<KernelConfig> known_best(const ResultsStore& store, const Problem& problem,
                                     const DeviceClass& device, int fastest) {
  std::optional<Measurement> winner;
  std::map<std::string, Measurement> newest;
  for (const Measurement& row : store.rows_of(problem.variant, device)) {
    const bool counts = row.evidence == Evidence::kMeasured && row.check && row.check->passed &&
                        row.relative > 0 && !row.warm && fields_equal(row.sizes, problem.sizes);
    if (!counts) continue;
    newest[canonical_text(row.config)] = row;  // rows come in the order of their recording
    if (row.chosen) winner = row;
  }
  if (!winner) return {};
  std::vector<Measurement> rows;
  for (const auto& [config, row] : newest) rows.push_back(row);
  std::stable_sort(rows.begin(), rows.end(), [](const Measurement& left, const Measurement& right) {
    return left.relative < right.relative;
  });
  std::vector<KernelConfig> configs{winner->config};
  for (const Measurement& row : rows) {
    if (static_cast<int>(configs.size()) > fastest) break;
    if (!(row.config == winner->config)) configs.push_back(row.config);
  }
  return configs;
}

/// Likewise of recordings, which have no winner but the fastest.
std::vector<KernelConfig> recorded_best(const std::vector<Recording>& recordings,
                                        const Problem& problem, const DeviceClass& device,
                                        int fastest) {
  std::vector<const Recording::Entry*> entries;
  for (const Recording& recording : recordings) {
    if (!(recording.problem == problem) || !recording.device.same_class(device)) continue;
    for (const auto& entry : recording.entries) {
      if (!entry.seconds.empty()) entries.push_back(&entry);
    }
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto* left, const auto* right) { return left->cost < right->cost; });
  std::vector<KernelConfig> configs;
  for (const auto* entry : entries) {
    if (static_cast<int>(configs.size()) > fastest) break;
    configs.push_back(entry->config);
  }
  return configs;
}

/// What a database or a recording holds of a problem, best first; nothing where it has no winner.
class Opponent {
 public:
  explicit Opponent(const std::string& path);

  std::vector<KernelConfig> best(const Problem& problem, const DeviceClass& device,
                                 int fastest) const {
    return store_ ? known_best(*store_, problem, device, fastest)
                  : recorded_best(recordings_, problem, device, fastest);
  }

 private:
  std::optional<ResultsStore> store_;
  std::vector<Recording> recordings_;
};

struct VersusResult {
  std::string problem;
  KernelConfig own, other;  ///< other: the fastest of the other databases'
  double seconds = 0;       ///< of the own
  MedianInterval ratio;     ///< own over other
  double noise = 0;         ///< by which a second copy of the own differed
  bool is_same() const { return own == other; }
  double regret() const { return is_same() ? 0 : ratio.median - 1; }
  bool is_inside_noise() const {
    return is_same() || (ratio.low - noise <= 1 && ratio.high + noise >= 1);
  }
};

VersusResult race(const Device& device, Compiler& compiler, const NamedProblem& named,
                  const KernelConfig& own, const std::vector<KernelConfig>& others,
                  const VersusOptions& options) {
  std::vector<KernelConfig> configs{own, own};
  for (const KernelConfig& other : others) {
    if (std::count(configs.begin(), configs.end(), other) == 0) configs.push_back(other);
  }
  const auto timings =
      measure_configs(device, compiler, named.problem, configs, options.samples, options.inputs);
  const auto ratio = [&](std::size_t left, std::size_t right) {
    return median_interval(paired_ratios(timings[left].seconds, timings[right].seconds));
  };
  VersusResult result{named.name, own, own, timings[0].median_seconds, {1, 1, 1}, 0};
  const MedianInterval control = ratio(0, 1);
  result.noise = std::max({control.high - 1, 1 - control.low, 0.0});
  const bool knows_own = std::count(others.begin(), others.end(), own) > 0;
  double highest = knows_own ? 1 : 0;  // ratio: that of the fastest other
  for (std::size_t i = 2; i < configs.size(); ++i) {
    const MedianInterval beside = ratio(0, i);
    if (beside.median <= highest) continue;
    highest = beside.median;
    result.ratio = beside;
    result.other = configs[i];
  }
  return result;
}

std::string line_of(const VersusResult& result) {
  const std::string verdict = result.is_same()           ? "the same config"
                              : result.is_inside_noise() ? "inside the noise"
                                                         : "beyond the noise";
  return fmt::format(
      "{:<20} {:>9} regret {:>6.2f} % [{:.2f} .. {:.2f}], noise {:.2f} %: {}\n    {}\n    {}\n",
      result.problem, format_seconds(result.seconds), 100 * result.regret(),
      100 * (result.ratio.low - 1), 100 * (result.ratio.high - 1), 100 * result.noise, verdict,
      canonical_text(result.own), canonical_text(result.other));
}

nlohmann::json to_json(const VersusResult& result) {
  return {{"problem", result.problem},
          {"seconds", result.seconds},
          {"config", canonical_text(result.own)},
          {"other", canonical_text(result.other)},
          {"regret", result.regret()},
          {"low", result.ratio.low - 1},
          {"high", result.ratio.high - 1},
          {"noise", result.noise},
          {"inside_noise", result.is_inside_noise()}};
}

std::string summary_of(const std::vector<VersusResult>& results) {
  double sum = 0, worst = results.front().regret();
  int beyond = 0;
  for (const VersusResult& result : results) {
    sum += result.regret();
    worst = std::max(worst, result.regret());
    beyond += result.is_inside_noise() ? 0 : 1;
  }
  return fmt::format("{} problems: mean regret {:.2f} %, worst {:.2f} %, {} beyond the noise\n",
                     results.size(), 100 * sum / static_cast<double>(results.size()), 100 * worst,
                     beyond);
}

ResultsStore open_to_read(const std::string& path) {
  std::string trouble;
  ResultsStore::Options options;
  options.path = path;
  options.read_only = true;
  options.warn = [&](const std::string& message) { trouble = message; };
  ResultsStore store(std::move(options));
  if (!store.in_memory()) return store;
  throw Error(
      ErrorCode::kInvalidArgument, "versus",
      fmt::format("--versus: '{}' cannot be read{}{}; name a database that --results of `heddle "
                  "tune` has written, or a file FILE{} of `heddle db record`",
                  path, trouble.empty() ? "" : ": ", trouble, kRecordingExtension));
}

Opponent::Opponent(const std::string& path) {
  if (!path.ends_with(kRecordingExtension)) {
    store_ = open_to_read(path);
    return;
  }
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  recordings_ = parse_recordings(text.str(), path);
}

}  // namespace

int run_versus(const VersusOptions& options, const ServiceFlags& services, const Device& device,
               const std::vector<NamedProblem>& problems) {
  const ResultsStore own_store(services.results_options());
  const std::vector<Opponent> opponents(options.databases.begin(), options.databases.end());
  Compiler compiler(services.compiler_options());
  std::vector<VersusResult> results;
  auto list = nlohmann::json::array();
  for (const NamedProblem& named : problems) {
    const auto own = known_best(own_store, named.problem, device.device_class(), 0);
    bool complete = !own.empty();
    std::vector<KernelConfig> others;
    for (const Opponent& opponent : opponents) {
      const auto some = opponent.best(named.problem, device.device_class(), options.fastest);
      complete &= !some.empty();
      others.insert(others.end(), some.begin(), some.end());
    }
    if (!complete) {
      print_note(named.name + ": left out, not every database or recording has a winner for it");
      continue;
    }
    results.push_back(race(device, compiler, named, own.front(), others, options));
    if (options.json) {
      list.push_back(to_json(results.back()));
    } else {
      std::cout << line_of(results.back()) << std::flush;
    }
  }
  if (options.json) std::cout << list.dump(2) << '\n';
  if (results.empty()) return kExitAnswerIsNo;
  if (!options.json) std::cout << summary_of(results);
  return kExitDone;
}

}  // namespace heddle
