// Tuning without a GPU: what nobody runs is predicted, and bad candidates are not even that.
#include <catch2/catch.hpp>

#include "tuner/tuner.hpp"

namespace heddle {
namespace {

TuneReport predict_here(ResultsStore& store, bool only_bad) {
  Compiler::Options compiler_options;
  compiler_options.nvrtc_path = HEDDLE_FAKE_NVRTC_FOLDER "/13_loadable";
  Compiler compiler(compiler_options);
  const DeviceLimits limits = find_architecture("sm_90a");
  const TuneTarget target{
      compiler, store,
      limits,   {.capability_major = 9, .sm_count = limits.sm_count, .name = "none"},
      nullptr,  {HEDDLE_WORKER, "", 0, compiler_options}};
  NamedProblem named{"asked", {}};
  named.problem.sizes = {.batch = 2, .heads = 4, .seqlen_q = 80, .seqlen_kv = 96};
  TuneOptions options;
  options.limit = 2;
  options.bad = {BadKind::kTrap, BadKind::kNeverWrites};
  options.only_bad = only_bad;
  return tune(target, named, options);
}

TEST_CASE("C01 without a GPU no bad candidate is stored or chosen") {
  ResultsStore store(ResultsStore::Options{});
  const TuneReport none = predict_here(store, true);
  CHECK_FALSE(none.winner);
  CHECK(none.failures.size() == 2);
  CHECK(store.list().empty());

  const TuneReport report = predict_here(store, false);
  REQUIRE(report.winner);
  CHECK_FALSE(report.winner->bad);
  CHECK(report.compiled == 2);
  CHECK(store.list().size() == 2);
}

}  // namespace
}  // namespace heddle
