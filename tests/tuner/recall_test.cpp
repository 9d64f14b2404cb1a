// What earlier runs have found, for one that compares with another default.
#include <algorithm>

#include "tests/runtime/serving.hpp"
#include "tuner/tuning_rows.hpp"

namespace heddle {
namespace {

TEST_CASE("What was relative to another default is recalled relative to today's") {
  Compiler::Options compiler_options;
  compiler_options.nvrtc_path = HEDDLE_FAKE_NVRTC_FOLDER "/13_loadable";
  Compiler compiler(compiler_options);
  ResultsStore store(ResultsStore::Options{});
  const Device device(Driver::load(HEDDLE_FAKE_CUDA_PATH), 0);
  const TuneTarget target{compiler, store, device.limits(), device.device_class(), &device, {}};
  Problem problem;
  problem.variant.head_dim = 64;
  problem.sizes = {.batch = 2, .heads = 4, .seqlen_q = 80, .seqlen_kv = 96};
  TuneOptions options;
  options.families = {Family::kFa2};
  options.limit = 4;

  auto narrow = list_candidates(problem, target.limits, options, {});
  REQUIRE(narrow.base);
  REQUIRE(narrow.all.size() == 4);
  const auto measure = [&](const std::string& tuning, Candidate candidate, double relative,
                           double seconds) {
    const RowContext context{target, problem, tuning, "", false, false, true};
    candidate.relative = relative;
    candidate.timing.emplace();
    candidate.timing->seconds = {seconds};
    candidate.timing->median_seconds = seconds;
    candidate.check = CheckRecord{.passed = true};
    store.record(row_of(context, candidate, 1));
  };
  const Candidate& base = narrow.all[*narrow.base];
  // A tuning of which another config was the default, half as fast as today's.
  const Candidate& other = narrow.all[*narrow.base == 0 ? 1 : 0];
  const Candidate& third = narrow.all[*narrow.base == 3 ? 2 : 3];
  measure("earlier", other, 1, 2e-3);
  measure("earlier", third, 1.5, 3e-3);

  const RowContext context{target, problem, "now", "", false, false, true};
  auto unknown = narrow;
  recall(context, unknown);
  const auto known = [](const CandidateList& list) {
    return std::count_if(list.all.begin(), list.all.end(),
                         [](const Candidate& candidate) { return candidate.known; });
  };
  CHECK(known(unknown) == 0);  // nobody knows how they stand to the default

  measure("later", base, 1, 1e-3);
  auto list = narrow;
  recall(context, list);
  CHECK(known(list) == 3);
  CHECK(list.all[static_cast<std::size_t>(base.id)].relative == 1);
  CHECK(list.all[static_cast<std::size_t>(other.id)].relative == Approx(2));
  CHECK(list.all[static_cast<std::size_t>(third.id)].relative == Approx(3));
}

}  // namespace
}  // namespace heddle
