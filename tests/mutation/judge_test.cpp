// Each way in which a mutant can end, on mutants of known fate.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "generator/error.hpp"
#include "tests/mutation/verdict_log.hpp"

namespace heddle::mutation {
namespace {

Judge& judge() {
  static Judge prepared;
  return prepared;
}

/// Replaces the first `before` in a header and asks a family's problems.
Verdict verdict_of(const std::string& file, const std::string& before, const std::string& after,
                   const std::string& family = "fa2") {
  const std::size_t at = judge().headers().at(file).find(before);
  REQUIRE(at != std::string::npos);
  Mutant mutant;
  mutant.file = file;
  mutant.offset = static_cast<int>(at);
  mutant.length = static_cast<int>(before.size());
  mutant.replacement = after;
  Verdict result;
  judge_mutants(judge(), {mutant}, {1, family, 3},
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

/// While it lives, whoever looks for a compiler on PATH finds one that is killed at once.
class KilledCompiler {
 public:
  KilledCompiler() : path_(std::getenv("PATH")) {
    folder_ = std::filesystem::temp_directory_path() / "heddle-killed-XXXXXX";
    REQUIRE(mkdtemp(folder_.data()) != nullptr);
    for (const char* name : {"clang++", "g++", "c++"}) {
      const std::string script = folder_ + "/" + name;
      std::ofstream(script) << "#!/bin/sh\necho 'error: killed' >&2\nkill -9 $$\n";
      std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    }
    setenv("PATH", folder_.c_str(), 1);
  }
  ~KilledCompiler() {
    setenv("PATH", path_.c_str(), 1);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

 private:
  std::string path_;
  std::string folder_;
};

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
  SECTION("bits unlike another config's") {
    const Verdict verdict = verdict_of(softmax, "? 2.0f : 3.0f", "? -9.0f : -9.0f");
    CHECK(verdict.outcome == Outcome::kKilled);
    CHECK(says(verdict, "another config gives different bits"));
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
    CHECK(verdict.outcome == Outcome::kOutOfTime);
    CHECK(says(verdict, "CPU time"));
  }
  SECTION("a crash of the kernel") {
    const Verdict verdict =
        verdict_of(softmax, "void clear() {", "void clear() { __builtin_trap();");
    CHECK(verdict.outcome == Outcome::kCrashed);
    CHECK(says(verdict, "signal"));
  }
  SECTION("a refusal by the template") {
    const Verdict verdict = verdict_of("layout.cuh", "columns + 8", "columns + 16");
    CHECK(verdict.outcome == Outcome::kKilled);
    CHECK(says(verdict, "static"));
  }
  SECTION("text that does not compile") {
    CHECK(verdict_of(softmax, "void clear()", "void clear(int)").outcome == Outcome::kStillborn);
  }
  SECTION("a compiler that is killed says nothing about the mutant") {
    if (std::getenv("HEDDLE_HOST_CXX") != nullptr) return;  // not looked for on PATH
    const KilledCompiler killed;
    CHECK(verdict_of(softmax, "void clear()", "void clear(int)").outcome == Outcome::kUnjudged);
  }
  SECTION("a wrong answer of the quantiser") {
    const Verdict verdict =
        verdict_of("part/quantised_store.cuh", "? scale : 1.0f", "? 2 * scale : 1.0f", "quantiser");
    CHECK(verdict.outcome == Outcome::kKilled);
    CHECK(says(verdict, "wrong answer: query scales[0]"));
  }
  SECTION("a barrier that the quantiser lacks") {
    const Verdict verdict =
        verdict_of("kernel/quantise_columns.cuh", "sync_block();", "", "quantiser");
    CHECK(verdict.outcome == Outcome::kKilled);
    CHECK(says(verdict, "data race"));
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
  for (const Outcome outcome : {Outcome::kKilled, Outcome::kCrashed, Outcome::kOutOfTime,
                                Outcome::kSurvived, Outcome::kStillborn}) {
    const std::string word(outcome_word(outcome));
    CHECK(read_verdicts(verdict_line(word, mutants[0], {})).at(mutants[0].key()).outcome ==
          outcome);
  }
  const std::string unjudged(outcome_word(Outcome::kUnjudged));
  CHECK(read_verdicts(verdict_line(unjudged, mutants[0], {})).empty());
  CHECK(read_verdicts(verdict_line("CRASHED BUT LISTED", mutants[0], {}))
            .at(mutants[0].key())
            .outcome == Outcome::kCrashed);
}

}  // namespace heddle::mutation
