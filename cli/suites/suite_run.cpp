#include "cli/suites/suite_run.hpp"

#include <fmt/format.h>

#include "cli/terminal.hpp"
#include "generator/error.hpp"
#include "tuner/nvml.hpp"

namespace heddle {

bool SuiteRun::has_time() const {
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  return options.budget == 0 || spent.count() < options.budget;
}

void add_nvrtc(SuiteRun& run, const Nvrtc& nvrtc) {
  run.facts.emplace_back("nvrtc",
                         fmt::format("{}.{}", nvrtc.major_version(), nvrtc.minor_version()));
}

std::unique_ptr<SuiteBench> open_bench(SuiteRun& run) {
  auto bench = std::make_unique<SuiteBench>(run.services, run.options.samples);
  const int version = bench->device().driver().version();
  run.facts.emplace_back("gpu", bench->device().device_class().name);
  const std::string cuda = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
  const std::string driver =
      Nvml(bench->device().driver().pci_bus_id(bench->device().ordinal())).driver_version();
  run.facts.emplace_back("driver", driver.empty() ? cuda : driver + ", " + cuda);
  add_nvrtc(run, bench->compiler().nvrtc());
  return bench;
}

FamilyChooser chooser_of(const SuiteBench& bench) {
  return [&bench](const Problem& problem, Family family) {
    const Choice choice = bench.choose(problem, family);
    return SuiteCase{std::string(enum_name(family)), problem, choice.config, choice.match};
  };
}

std::vector<SuiteTiming> measure_cells(SuiteRun& run, SuiteBench& bench,
                                       const std::vector<std::vector<SuiteCase>>& cells) {
  ProgressLine line(detect_terminal());
  std::vector<SuiteTiming> all;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line.update("measuring", static_cast<int>(i), static_cast<int>(cells.size()));
    std::vector<SuiteTiming> timings(cells[i].size());
    std::string failure = "no time left of --budget";
    if (run.has_time()) {
      try {
        timings = bench.measure(cells[i]);
        failure.clear();
      } catch (const Error& error) {  // what is measured must not go with it
        failure = error.what();
        run.failed = true;
      }
    }
    for (SuiteTiming& timing : timings) {
      if (!failure.empty()) timing.failure = failure;
      all.push_back(timing);
    }
  }
  line.clear();
  return all;
}

std::vector<SuiteCase> flat(const std::vector<std::vector<SuiteCase>>& cells) {
  std::vector<SuiteCase> all;
  for (const auto& cell : cells) all.insert(all.end(), cell.begin(), cell.end());
  return all;
}

}  // namespace heddle
