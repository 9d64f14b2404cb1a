#include "tuner/shard.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "tuner/candidate_list.hpp"

namespace heddle {
namespace {

std::vector<NamedProblem> problems(int count) {
  std::vector<NamedProblem> list(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) list[static_cast<std::size_t>(i)].name = std::to_string(i);
  return list;
}

TEST_CASE("Parts of a workload are disjoint and complete") {
  for (const int count : {2, 3, 7}) {
    std::multiset<std::string> seen;
    for (int index = 1; index <= count; ++index) {
      const Share share = share_of(problems(10), {index, count});
      CHECK(share.candidates.count == 1);
      for (const NamedProblem& problem : share.problems) seen.insert(problem.name);
    }
    CHECK(seen.size() == 10);
    CHECK(std::set<std::string>(seen.begin(), seen.end()).size() == 10);
  }
}

TEST_CASE("With fewer problems than parts the candidates are cut, and each part has the default") {
  const Share share = share_of(problems(1), {2, 4});
  CHECK(share.problems.size() == 1);
  CHECK(share.candidates.index == 2);
  CHECK(share.candidates.count == 4);

  Problem problem;
  problem.variant.head_dim = 64;
  problem.sizes = {.heads = 4, .seqlen_q = 512, .seqlen_kv = 512};
  const DeviceLimits& limits = find_architecture("sm_90a");
  const auto all = list_candidates(problem, limits, {}, {});
  REQUIRE(all.base);
  const KernelConfig base = all.all[*all.base].config;
  std::multiset<std::string> others;
  for (int index = 1; index <= 4; ++index) {
    TuneOptions options;
    options.shard = {index, 4};
    const auto part = list_candidates(problem, limits, options, {});
    REQUIRE(part.base);
    CHECK(part.seeds.front() == *part.base);
    for (const Candidate& candidate : part.all) {
      if (!(candidate.config == base)) others.insert(canonical_text(candidate.config));
    }
  }
  CHECK(others.size() == all.all.size() - 1);
  CHECK(std::set<std::string>(others.begin(), others.end()).size() == others.size());
}

TEST_CASE("A search of some families is relative to their default, and keeps it") {
  Problem problem;
  problem.variant.head_dim = 128;
  problem.sizes = {.heads = 16, .seqlen_q = 2048, .seqlen_kv = 2048};
  const DeviceLimits& limits = find_architecture("sm_90a");
  TuneOptions options;
  options.limit = 3;
  for (const Family family : {Family::kFa2, Family::kFa3}) {
    options.families = {family};
    const auto list = list_candidates(problem, limits, options, {});
    REQUIRE(list.all.size() == 3);
    REQUIRE(list.base);
    CHECK(list.seeds.front() == *list.base);
    CHECK(list.all[*list.base].config ==
          *default_config(family, problem.variant, bucket_of(problem.sizes), limits));
  }
  options.families = {Family::kFa3, Family::kFa2};  // the default of all is one of them
  CHECK(base_config(problem, limits, options.families) ==
        default_config(problem.variant, bucket_of(problem.sizes), limits));
  options.families = {Family::kUnfused};  // which has none
  CHECK_FALSE(list_candidates(problem, limits, options, {}).base);
}

TEST_CASE("What is no part of a whole is told") {
  CHECK(parse_shard("2/8").index == 2);
  CHECK(parse_shard("8/8").count == 8);
  for (const char* text : {"", "2", "0/8", "9/8", "-1/8", "a/b", "1/0", "1/8/2", "/"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_shard(text), Error);
  }
}

}  // namespace
}  // namespace heddle
