#include "tuner/shard.hpp"

namespace heddle {

Shard parse_shard(const std::string& text) {
  Shard shard;
  const std::size_t slash = text.find('/');
  const bool good = slash != std::string::npos && parse_value(text.substr(0, slash), shard.index) &&
                    parse_value(text.substr(slash + 1), shard.count) && shard.index >= 1 &&
                    shard.index <= shard.count;
  if (good) return shard;
  throw Error(ErrorCode::kInvalidArgument, "shard",
              "--shard: '" + text + "' is no part of a whole; give 1/8 to 8/8");
}

Share share_of(const std::vector<NamedProblem>& problems, const Shard& shard) {
  if (shard.count <= 1) return {problems, {}};
  if (problems.size() < static_cast<std::size_t>(shard.count)) return {problems, shard};
  Share share;
  for (std::size_t i = static_cast<std::size_t>(shard.index) - 1; i < problems.size();
       i += static_cast<std::size_t>(shard.count)) {
    share.problems.push_back(problems[i]);
  }
  return share;
}

}  // namespace heddle
