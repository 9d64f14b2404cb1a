// What the tuner checks a kernel by.
#include "tuner/gate.hpp"

#include <catch2/catch.hpp>

#include "runtime/testing/layout.hpp"
#include "runtime/testing/pooled.hpp"

namespace heddle {
namespace {

Problem problem_of(const Sizes& sizes, int head_dim) {
  Problem problem;
  problem.variant.head_dim = head_dim;
  problem.sizes = sizes;
  return problem;
}

TEST_CASE("few outputs are pooled over more sequences, so that their RMS means something") {
  const Problem tuned = problem_of({.heads = 1, .seqlen_q = 1, .seqlen_kv = 4096}, 8);
  for (const Problem& checked : gate_problems(tuned)) {
    CHECK(query_shape(checked).elements() >= kFewestOutputs);
    CHECK(checked.sizes.seqlen_q == 1);
    CHECK(checked.sizes.heads == 1);
    CHECK(checked.variant == tuned.variant);
  }
  CHECK(gate_problems(tuned)[0].sizes.seqlen_kv == 4096);
}

TEST_CASE("many outputs stay few sequences") {
  const Problem tuned =
      problem_of({.batch = 64, .heads = 32, .kv_heads = 8, .seqlen_q = 512, .seqlen_kv = 512}, 128);
  for (const Problem& checked : gate_problems(tuned)) {
    CHECK(checked.sizes.batch == 2);
    CHECK(checked.sizes.kv_heads == 2);
    CHECK(checked.sizes.heads == 8);
  }
}

TEST_CASE("pooling stops where keys and values would fill the memory") {
  const Problem tuned = problem_of({.heads = 1, .seqlen_q = 1, .seqlen_kv = 1 << 20}, 8);
  const Problem checked = gate_problems(tuned)[0];
  CHECK(checked.sizes.batch == 8);
  CHECK(key_value_shape(checked).elements() == 1 << 26);
}

}  // namespace
}  // namespace heddle
