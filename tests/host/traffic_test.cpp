// Bytes that the kernels ask of global memory, counted, against the formulas of
// docs/architecture.md.
#include <algorithm>
#include <catch2/catch.hpp>

#include "runtime/host/attention.hpp"
#include "runtime/testing/inputs.hpp"

namespace heddle {
namespace {

constexpr long long kElementBytes = 2;

struct Counted {
  Problem problem;
  KernelConfig config;
  HostRun run;

  /// Of one tensor with all heads: rows x head_dim elements.
  long long tensor_bytes(long long rows) const {
    return kElementBytes * rows * problem.sizes.heads * problem.variant.head_dim;
  }
  const BufferTraffic& of(const std::string& name) const {
    const auto found = std::find_if(run.traffic.begin(), run.traffic.end(),
                                    [&](const auto& entry) { return entry.name == name; });
    REQUIRE(found != run.traffic.end());
    return *found;
  }
};

Counted count(Family family, int seqlen_q, int seqlen_kv) {
  const DeviceLimits limits = find_architecture("sm_90a");
  Counted counted;
  counted.problem.variant.head_dim = 64;
  counted.problem.sizes.heads = 2;
  counted.problem.sizes.seqlen_q = seqlen_q;
  counted.problem.sizes.seqlen_kv = seqlen_kv;
  counted.config.family = family;
  counted.config.tile_m = counted.config.tile_n = 64;
  counted.config.warps = 4;
  HostCompiler compiler;
  const HostConfig kernels =
      compile_for_host(compiler, counted.problem.variant, counted.config, limits);
  const HostTensors tensors = make_inputs(counted.problem, InputKind::kNormal, 5);
  counted.run = run_on_host(counted.problem, kernels, limits, tensors, {});
  REQUIRE(counted.run.faults.empty());
  return counted;
}

void check_streams(const Counted& counted) {
  const Sizes& sizes = counted.problem.sizes;
  const long long tiles = (sizes.seqlen_q + counted.config.tile_m - 1) / counted.config.tile_m;
  CHECK(counted.run.traffic.size() == 5);  // no workspace, and nothing but tensors
  CHECK(counted.of("Q").read == counted.tensor_bytes(sizes.seqlen_q));
  CHECK(counted.of("K").read == tiles * counted.tensor_bytes(sizes.seqlen_kv));
  CHECK(counted.of("V").read == tiles * counted.tensor_bytes(sizes.seqlen_kv));
  CHECK(counted.of("O").written == counted.tensor_bytes(sizes.seqlen_q));
  CHECK(counted.of("O").read == 0);
  CHECK(counted.of("LSE").written == 4LL * sizes.heads * sizes.seqlen_q);
  CHECK(plan_launch(counted.problem, counted.config, find_architecture("sm_90a")).workspace_bytes ==
        0);
}

}  // namespace

TEST_CASE("fa1 and fa2 read Q once, K and V once for each query tile, and write O once") {
  for (const Family family : {Family::kFa1, Family::kFa2}) {
    check_streams(count(family, 192, 128));
    check_streams(count(family, 65, 77));  // a tile of one row, a block of 13 keys
  }
}

TEST_CASE("unfused moves its scores through memory: 4 bytes out and in, 2 bytes out and in") {
  const Counted counted = count(Family::kUnfused, 128, 192);
  const long long scores = 2LL * 128 * 192;
  CHECK(counted.of("the workspace").written == (4 + 2) * scores);
  CHECK(counted.of("the workspace").read == (4 + 2) * scores);
}

}  // namespace heddle
