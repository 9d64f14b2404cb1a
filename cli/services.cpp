#include "cli/services.hpp"

#include <iostream>

#include <CLI/CLI.hpp>

namespace heddle {

void print_note(const std::string& message) {
  std::cerr << "heddle: note: " << message << '\n';
}

void print_warning(const std::string& message) {
  std::cerr << "heddle: warning: " << message << '\n';
}

void ServiceFlags::add_to(CLI::App& app) {
  const std::string group = "Services";
  app.add_option("--nvrtc", nvrtc_, "libnvrtc, or the folder that holds it")->group(group);
  app.add_option("--driver", driver_, "libcuda.so.1 to use")->group(group);
  app.add_option("--results", results_, "database of measurements (default: $HEDDLE_DB)")
      ->group(group);
  app.add_option("--cache", cache_, "database of compiled kernels (default: $HEDDLE_CACHE)")
      ->group(group);
  app.add_flag("--no-cache", no_cache_, "compile afresh and keep nothing on disk")->group(group);
}

Compiler::Options ServiceFlags::compiler_options() const {
  Compiler::Options options;
  options.nvrtc_path = nvrtc_;
  options.cache.warn = print_warning;
  if (!no_cache_) options.cache.path = cache_.empty() ? default_database_paths().cubins : cache_;
  return options;
}

ResultsStore::Options ServiceFlags::results_options() const {
  ResultsStore::Options options;
  options.warn = print_warning;
  options.path = results_.empty() ? default_database_paths().results : results_;
  return options;
}

std::vector<std::string> ServiceFlags::words() const {
  std::vector<std::string> words;
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, value});
  };
  add("--nvrtc", nvrtc_);
  add("--driver", driver_);
  add("--results", results_);
  add("--cache", cache_);
  if (no_cache_) words.emplace_back("--no-cache");
  return words;
}

}  // namespace heddle
