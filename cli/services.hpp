#pragma once
// Where a verb finds NVRTC, the driver and the two databases.

#include <string>
#include <vector>

#include "runtime/compiler.hpp"
#include "tuning_db/results_store.hpp"

namespace CLI {
class App;
}

namespace heddle {

class ServiceFlags {
 public:
  void add_to(CLI::App& app);
  Compiler::Options compiler_options() const;
  ResultsStore::Options results_options() const;
  /// The flags given, to start another heddle with.
  std::vector<std::string> words() const;
  const std::string& driver_path() const { return driver_; }

 private:
  std::string nvrtc_;
  std::string driver_;
  std::string results_;
  std::string cache_;
  bool no_cache_ = false;
};

/// Writes "heddle: note: …" to standard error.
void print_note(const std::string& message);
/// Writes "heddle: warning: …" to standard error.
void print_warning(const std::string& message);

}  // namespace heddle
