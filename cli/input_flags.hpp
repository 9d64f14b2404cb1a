#pragma once

#include <string>

#include "runtime/testing/inputs.hpp"

namespace CLI {
class App;
}

namespace heddle {

/// --inputs and --rise: what random inputs are like.
class InputFlags {
 public:
  void add_to(CLI::App& app);
  /// Throws kInvalidArgument.
  InputOptions resolve() const;
  const std::string& kind() const { return kind_; }

 private:
  std::string kind_ = "normal";
  double rise_ = kDefaultRise;
};

}  // namespace heddle
