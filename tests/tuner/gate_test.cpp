// What the tuner checks a kernel by.
#include "tuner/gate.hpp"

#include <catch2/catch.hpp>

#include "runtime/testing/layout.hpp"
#include "runtime/testing/pooled.hpp"
#include "tuner/input_sets.hpp"

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

TEST_CASE("C69 inputs rotate past the cache, whose size is the device's") {
  // Keys and values of 16 MiB, which an H200's cache holds three times.
  const Problem decoding =
      problem_of({.heads = 32, .kv_heads = 8, .seqlen_q = 1, .seqlen_kv = 4096}, 128);
  DeviceLimits limits = find_architecture("sm_90a");
  for (const long long cache : {40LL << 20, 60LL << 20, 100LL << 20}) {
    limits.l2_bytes = cache;
    const double bytes = InputSets::wanted(limits, decoding) * minimal_bytes(decoding);
    CHECK(bytes >= 2.0 * static_cast<double>(cache));
  }
  limits.l2_bytes = 1LL << 20;
  CHECK(InputSets::wanted(limits, decoding) == 1);
}

}  // namespace
}  // namespace heddle
