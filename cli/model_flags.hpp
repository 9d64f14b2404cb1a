#pragma once

#include <string>
#include <vector>

#include "tuner/model_config.hpp"

namespace CLI {
class App;
}

namespace heddle {

/// Drops problems without output elements, for which nothing runs, and says so on standard error.
void drop_empty(std::vector<NamedProblem>& problems);

/// --model CONFIG.json and the batch sizes and lengths its problems are derived for.
class ModelFlags {
 public:
  void add_to(CLI::App& app);
  bool given() const { return !file_.empty(); }
  /// What is left out or chosen on the way is said on standard error. Throws kInvalidArgument, or
  /// kUnsupported for a field that heddle cannot honour and that --ignore does not name.
  std::vector<NamedProblem> problems() const;

 private:
  std::string file_;
  std::string phase_ = "both";
  std::string dtype_;
  ModelWorkload workload_{{1}, {1024, 4096}, true, true, {}, {}};
};

}  // namespace heddle
