#pragma once

#include <string>
#include <vector>

#include "tuner/named_problem.hpp"
#include "tuner/tuner.hpp"

namespace heddle {

/// "2/8". Throws kInvalidArgument.
Shard parse_shard(const std::string& text);

/// One process's part of the work: whole problems where there are enough for every part, else a
/// part of each problem's candidates.
struct Share {
  std::vector<NamedProblem> problems;
  Shard candidates;
};
Share share_of(const std::vector<NamedProblem>& problems, const Shard& shard);

}  // namespace heddle
