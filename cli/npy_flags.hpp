#pragma once

#include <string>

#include "cli/flags.hpp"
#include "cli/npy.hpp"

namespace CLI {
class App;
}

namespace heddle {

/// --q, --k, --v FILE.npy and how their elements are to be read.
class NpyFlags {
 public:
  void add_to(CLI::App& app);
  bool given() const {
    return !files_.query.empty() || !files_.key.empty() || !files_.value.empty();
  }
  /// The files' shapes and type, with mask, scale and the like from the problem flags.
  AttentionInput read(const ProblemFlags& problem) const;

 private:
  AttentionFiles files_;
  bool bf16_ = false;
};

}  // namespace heddle
