#pragma once
// The suites of `heddle bench --suite NAME`.

#include <string>
#include <vector>

#include "cli/flags.hpp"
#include "cli/services.hpp"

namespace heddle {

struct BenchSuiteOptions {
  std::string name;
  std::vector<int> lengths;  ///< of a sweep, only these; empty = all
  std::string from;          ///< the suite's own CSV, to draw again; `lengths`: of bench/compare.py
  std::string peers;         ///< in place of bench/peers.yaml as built in
  std::string csv;           ///< file to write
  std::string svg;           ///< file to write
  std::string markdown;      ///< file to write: as docs/evidence.md has it
  double budget = 0;         ///< seconds after which nothing more is begun; 0 = no limit
  int samples = 20;
  bool json = false;
};

/// Names, and a line of help for all.
std::vector<std::string> suite_names();
std::string suite_help();

/// Measures, prints, writes the files; or draws the plot of a CSV again. Returns the exit code.
int run_suite(const BenchSuiteOptions& options, const ServiceFlags& services,
              const ProblemFlags& problem);

}  // namespace heddle
