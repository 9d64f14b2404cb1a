// Each way in which a mutant can end, on mutants of known fate.
#include <cstdio>
#include <cstdlib>

#include <catch2/catch.hpp>

#include "generator/error.hpp"
#include "tests/mutation/verdict_log.hpp"

namespace heddle::mutation {
namespace {

Judge& judge() {
  static Judge prepared;
  return prepared;
}

/// Replaces the first `before` in a header and asks fa2's problems.
Verdict verdict_of(const std::string& file, const std::string& before, const std::string& after) {
  const std::size_t at = judge().headers().at(file).find(before);
  REQUIRE(at != std::string::npos);
  Mutant mutant;
  mutant.file = file;
  mutant.offset = static_cast<int>(at);
  mutant.length = static_cast<int>(before.size());
  mutant.replacement = after;
  Verdict result;
  judge_mutants(judge(), {mutant}, {1, "fa2"},
                [&](std::size_t, const Verdict& verdict) { result = verdict; });
  INFO(result.problem << ": " << result.reason);
  CHECK(!result.problem.empty() == (result.outcome != Outcome::kSurvived));
  return result;
}

bool says(const Verdict& verdict, const std::string& words) {
  return verdict.reason.find(words) != std::string::npos;
}

bool has_compiler() {
  try {
    HostCompiler compiler;
    return true;
  } catch (const Error& error) {
    return error.code() != ErrorCode::kHostCompilerMissing;
  }
}

}  // namespace

TEST_CASE("what a mutant ends in") {
  if (!has_compiler()) {
    std::puts("skipped: no C++ compiler");
    std::exit(77);
  }
  const std::string softmax = "part/softmax.cuh";
  SECTION("a wrong answer") {
    const Verdict verdict = verdict_of("part/log_sum_exp.cuh", "* kLn2", "* 1.0f");
    CHECK(verdict.outcome == Outcome::kKilled);
    CHECK(says(verdict, "wrong answer: LSE["));
  }
  SECTION("an index beyond an array of registers") {
    const Verdict verdict = verdict_of(softmax, "row < kRows", "row <= kRows");
    CHECK(verdict.outcome == Outcome::kKilled);
    CHECK(says(verdict, "part/softmax.cuh"));
    CHECK(says(verdict, "an index beyond its array"));
  }
  SECTION("a missing barrier") {
    const Verdict verdict = verdict_of("kernel/fa2.cuh", "return sync_block_any", "return ");
    CHECK(verdict.outcome == Outcome::kKilled);
  }
  SECTION("a loop without end") {
    const Verdict verdict = verdict_of("kernel/fa2.cuh", "++block", "block += 0");
    CHECK(verdict.outcome == Outcome::kKilled);
    CHECK(says(verdict, "never ends"));
  }
  SECTION("a refusal by the template") {
    const Verdict verdict = verdict_of("layout.cuh", "columns + 8", "columns + 16");
    CHECK(verdict.outcome == Outcome::kKilled);
    CHECK(says(verdict, "static"));
  }
  SECTION("text that does not compile") {
    CHECK(verdict_of(softmax, "void clear()", "void clear(int)").outcome == Outcome::kStillborn);
  }
  SECTION("nothing") {
    CHECK(verdict_of(softmax, "void clear()", "inline void clear()").outcome == Outcome::kSurvived);
  }
}

TEST_CASE("verdicts survive their way through a log") {
  const auto mutants = make_mutants("part/x.cuh", "if (a | b) f(c, d);");
  const Verdict told{Outcome::kKilled, "fa2 causal", "fault: a | b", 1.25};
  const std::string log = "seed 4\n" + verdict_line("SURVIVED", mutants[0], {}) + "table\n" +
                          verdict_line("KILLED", mutants[0], told);
  const auto verdicts = read_verdicts(log);
  REQUIRE(verdicts.count(mutants[0].key()) == 1);
  const Verdict read = verdicts.at(mutants[0].key());
  CHECK(read.outcome == Outcome::kKilled);
  CHECK(read.problem == "fa2 causal");
  CHECK(read.reason == "fault: a ! b");
}

}  // namespace heddle::mutation
