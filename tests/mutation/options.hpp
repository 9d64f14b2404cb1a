#pragma once
// The command line of heddle_mutation.

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::mutation {

struct Options {
  bool list = false;
  bool all = false;
  std::size_t sample = 0;
  std::uint64_t seed = 0;
  bool seeded = false;
  std::vector<std::string> only;
  std::string family;
  std::vector<std::string> problems;
  std::vector<std::string> logs;
  std::string markdown;
  int jobs = 1;
};

/// Throws Error (kInvalidArgument) for what it does not know.
Options parse(const std::vector<std::string>& arguments);

/// What --help prints.
const char* usage();

}  // namespace heddle::mutation
