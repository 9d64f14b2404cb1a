#include "tuner/candidate_list.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "generator/candidates.hpp"

namespace heddle {
namespace {

Problem prefill(int head_dim) {
  Problem problem;
  problem.variant.head_dim = head_dim;
  problem.sizes = {.heads = 32, .seqlen_q = 2048, .seqlen_kv = 2048};
  return problem;
}

TEST_CASE("What candidates are compared with is the default of the families that are wanted") {
  const DeviceLimits& limits = find_architecture("sm_90a");
  const Problem problem = prefill(64);
  const SizeBucket bucket = bucket_of(problem.sizes);
  const auto base_of = [&](std::vector<Family> families) {
    TuneOptions options;
    options.families = std::move(families);
    options.limit = 3;  // which must not cut it off
    const CandidateList list = list_candidates(problem, limits, options, {});
    CHECK(list.all.size() == 3);
    if (!list.base) return KernelConfig{.family = Family::kReference};
    CHECK(list.seeds.front() == *list.base);
    return list.all[*list.base].config;
  };
  const KernelConfig usual = default_config(problem.variant, bucket, limits);
  CHECK(usual.family == Family::kFa3);
  CHECK(base_of({}) == usual);
  CHECK(base_of({Family::kFa2, Family::kFa3}) == usual);
  CHECK(base_of({Family::kFa3}) == usual);
  CHECK(base_of({Family::kFa1, Family::kFa2}) ==
        default_config(Family::kFa2, problem.variant, bucket, limits));
  CHECK(base_of({Family::kFa1}).family == Family::kReference);  // nobody picked one
}

TEST_CASE("A default that the search space does not hold is tried all the same") {
  const DeviceLimits& limits = find_architecture("sm_120");
  const Problem problem = prefill(256);
  const KernelConfig usual = default_config(problem.variant, bucket_of(problem.sizes), limits);
  const auto space = enumerate_candidates(problem.variant, limits);
  REQUIRE(std::count(space.begin(), space.end(), usual) == 0);
  const CandidateList list = list_candidates(problem, limits, {}, {});
  REQUIRE(list.base);
  CHECK(list.all[*list.base].config == usual);
  CHECK(list.all[*list.base].prediction.seconds > 0);
  CHECK(list.legal == static_cast<int>(list.all.size()));
  CHECK(std::count_if(list.all.begin(), list.all.end(),
                      [&](const Candidate& entry) { return entry.config == usual; }) == 1);
}

}  // namespace
}  // namespace heddle
