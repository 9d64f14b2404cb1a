// Which config a problem gets: the stored winner if it is legal here, else the default.
#include "tests/runtime/asked_problem.hpp"

namespace heddle {
namespace {

TEST_CASE("with nothing stored, the default is chosen") {
  const AskedProblem ask;
  const ResultsStore empty({});
  for (const ResultsStore* store : {static_cast<const ResultsStore*>(nullptr), &empty}) {
    const Choice choice = select(ask.question, ask.target(), store);
    if (store == nullptr) {
      CHECK(choice.config == ask.fallback());
      CHECK(choice.match == Match::kDefault);
    }
    CHECK_FALSE(reject(ask.question.variant, choice.config, ask.limits));
  }
}

TEST_CASE("a measured winner is chosen, with its match") {
  const AskedProblem ask;
  ResultsStore store({});
  const KernelConfig winner = ask.other_than_default();
  store.record(ask.measured(winner, 1e-6));
  const Choice choice = select(ask.question, ask.target(), &store);
  CHECK(choice.config == winner);
  CHECK(choice.match == Match::kExact);
}

TEST_CASE("a winner that is not legal here is passed over") {
  AskedProblem ask;
  ResultsStore store({});
  KernelConfig winner = ask.other_than_default();
  winner.tile_m = winner.tile_n = 4096;  // no device has the shared memory
  REQUIRE(reject(ask.question.variant, winner, ask.limits));
  store.record(ask.measured(winner, 1e-9));
  const Choice choice = select(ask.question, ask.target(), &store);
  CHECK_FALSE(choice.config == winner);
  CHECK_FALSE(reject(ask.question.variant, choice.config, ask.limits));
}

TEST_CASE("a prefill winner does not serve decoding, but a neighbouring length") {
  AskedProblem ask;
  ResultsStore store({});
  KernelConfig prefill;
  prefill.tile_m = 128;
  prefill.tile_n = 48;
  store.record(ask.measured(prefill, 1e-6));

  ask.question.bucket =
      bucket_of(Sizes{.batch = 1, .heads = 8, .kv_heads = 2, .seqlen_q = 1, .seqlen_kv = 4096});
  const Choice decoding = select(ask.question, ask.target(), &store);
  CHECK_FALSE(decoding.config == prefill);
  CHECK(decoding.config.split_kv);

  ask.question.bucket =
      bucket_of(Sizes{.batch = 2, .heads = 8, .kv_heads = 8, .seqlen_q = 2048, .seqlen_kv = 2048});
  const Choice neighbour = select(ask.question, ask.target(), &store);
  CHECK(neighbour.config == prefill);
  CHECK(neighbour.match == Match::kNearestSize);
}

TEST_CASE("C25 a winner tuned at 1024 keys serves the others of its bucket, and no other layout") {
  AskedProblem ask;
  ResultsStore store({});
  KernelConfig winner;
  for (const KernelConfig& config : enumerate_candidates(ask.question.variant, ask.limits)) {
    if (config.family == Family::kFa3 && !config.split_kv) winner = config;
  }
  REQUIRE(winner.family == Family::kFa3);  // asks for aligned strides
  store.record(ask.measured(winner, 1e-6));
  for (const int keys : {1000, 1023, 1}) {
    INFO(keys << " keys");
    Sizes sizes = AskedProblem::sizes();
    sizes.seqlen_kv = keys;
    ask.question.bucket = bucket_of(sizes);
    const Choice choice = select(ask.question, ask.target(), &store);
    CHECK(is_usable(ask.question, ask.target(), choice.config));
    if (keys > 512) CHECK(choice.config == winner);  // the same bucket
  }
  // A row pitch of 66 elements: rows begin at multiples of 4 bytes.
  ask.question.bucket = bucket_of(AskedProblem::sizes());
  ask.question.variant.alignment = 4;
  REQUIRE(reject(ask.question.variant, winner, ask.limits));
  const Choice unaligned = select(ask.question, ask.target(), &store);
  CHECK_FALSE(unaligned.config == winner);
  CHECK(is_usable(ask.question, ask.target(), unaligned.config));
}

TEST_CASE("what an unfinished tuning has measured is taken, and marked") {
  const AskedProblem ask;
  ResultsStore store({});
  Measurement row = ask.measured(ask.other_than_default(), 1e-6);
  store.record(row);
  CHECK(select(ask.question, ask.target(), &store).partial);
  row.chosen = true;
  store.record(row);
  CHECK_FALSE(select(ask.question, ask.target(), &store).partial);
}

TEST_CASE("asking for splits excludes configs that do not split") {
  AskedProblem ask;
  ask.question.must_split = true;
  ResultsStore store({});
  KernelConfig winner = ask.fallback();
  winner.split_kv = false;
  store.record(ask.measured(winner, 1e-9));
  CHECK(select(ask.question, ask.target(), &store).config.split_kv);
  CHECK(select(ask.question, ask.target(), nullptr).config.split_kv);
}

TEST_CASE("the reference kernel is never chosen") {
  const AskedProblem ask;
  KernelConfig reference;
  reference.family = Family::kReference;
  CHECK_FALSE(is_usable(ask.question, ask.target(), reference));
}

TEST_CASE("fallbacks are legal, distinct and never the failed config") {
  const AskedProblem ask;
  const KernelConfig failed = ask.other_than_default();
  const auto choices =
      fallbacks(ask.question, ask.target(), {{failed, Match::kExact, "spills", {}}});
  REQUIRE(choices.size() >= 2);
  CHECK(choices.front().config == ask.fallback());
  for (std::size_t i = 0; i < choices.size(); ++i) {
    CHECK_FALSE(choices[i].config == failed);
    CHECK(is_usable(ask.question, ask.target(), choices[i].config));
    for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(choices[i].config == choices[j].config);
  }
  for (const Choice& choice :
       fallbacks(ask.question, ask.target(), {{ask.fallback(), Match::kExact, "spills", {}}})) {
    CHECK_FALSE(choice.config == ask.fallback());
  }
}

TEST_CASE("behind fa3's default comes fa2's, split where splits were asked for") {
  AskedProblem ask;
  ask.question.must_split = GENERATE(false, true);
  const auto choices = fallbacks(ask.question, ask.target(), {});
  REQUIRE(choices.size() == 3);
  CHECK(choices[0].config.family == Family::kFa3);
  CHECK(choices[1].config.family == Family::kFa2);
  for (const Choice& choice : choices) {
    CHECK(choice.config.split_kv == ask.question.must_split);
  }
  const auto without = fallbacks(ask.question, ask.target(),
                                 {{choices[0].config, Match::kDefault, "does not load", {}}});
  REQUIRE_FALSE(without.empty());
  CHECK(without.front().config == choices[1].config);
}

}  // namespace
}  // namespace heddle
