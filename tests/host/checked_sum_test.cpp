// Sums checked instead of maxima (fa3, running_max=checked_sum): rows that rise slowly, fast, and
// so fast that probabilities overflow and a block is made up for, beside rows that do not.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "generator/emit.hpp"
#include "runtime/host/verify.hpp"
#include "runtime/testing/element.hpp"
#include "runtime/testing/inputs.hpp"

namespace heddle {
namespace {

constexpr int kColumns = 64;
constexpr int kBlock = 16;  ///< keys
constexpr int kKeys = 20 * kBlock - 3;
constexpr int kQueries = 70;  ///< a tile, and rows of another

/// The wanted logit of a query and the key that is the `visited`th to be met: fa3 walks from the
/// last key to the first.
using Logit = std::function<double(int query, int visited)>;

Problem problem_of(DataType dtype, MaskKind mask) {
  Problem problem;
  problem.variant.dtype = dtype;
  problem.variant.head_dim = kColumns;
  problem.variant.mask = mask;
  problem.sizes.seqlen_q = kQueries;
  problem.sizes.seqlen_kv = kKeys;
  problem.sizes.scale = 1;
  return problem;
}

KernelConfig config_of(RunningMax running_max) {
  KernelConfig config;
  config.family = Family::kFa3;
  config.tile_m = 64;
  config.tile_n = kBlock;
  config.warps = 4;
  config.running_max = running_max;
  return config;
}

/// Query i is the unit vector i modulo 64, so that its logits are a column of K.
HostTensors tensors_of(const Problem& problem, const Logit& logit) {
  const DataType dtype = problem.variant.dtype;
  HostTensors tensors = make_inputs(problem, InputKind::kNormal, 41);
  for (std::size_t i = 0; i < tensors.query.size(); ++i) {
    const bool is_own = i / kColumns % kColumns == i % kColumns;
    tensors.query[i] = element_from_float(dtype, is_own ? 1.0f : 0.0f);
  }
  for (int key = 0; key < kKeys; ++key) {
    for (int query = 0; query < kColumns; ++query) {
      const auto value = static_cast<float>(logit(query, kKeys - 1 - key));
      tensors.key[static_cast<std::size_t>(key * kColumns + query)] =
          element_from_float(dtype, value);
    }
  }
  return tensors;
}

/// Between -1 and 1, another one for each pair.
double noise(int query, int visited) {
  return std::sin(12.9898 * query + 78.233 * visited + 0.37 * query * visited);
}

Logit rising(double per_block) {
  return
      [=](int query, int visited) { return noise(query, visited) + per_block * visited / kBlock; };
}

/// From some block on `height` higher, for good or for one key alone.
Logit jumping(double height, int every, bool for_good) {
  return [=](int query, int visited) {
    const int first = kBlock * (9 + query % 7) + query % kBlock;
    const bool jumps = query % every == 0 && (for_good ? visited >= first : visited == first);
    return noise(query, visited) + (jumps ? height : 0.0);
  };
}

/// One key of each block stands out, more and more.
double spikes(int query, int visited) {
  const bool spike = visited % kBlock == query % kBlock;
  return noise(query, visited) + (spike ? 8.0 + visited / 10.0 : 0.0);
}

double one_hot(int query, int visited) {
  return visited % kColumns == query ? 16.0 : 0.0;
}

double large(int query, int visited) {
  return 24 * noise(query, visited) * noise(visited, query + 3);
}

/// Jumps across the bases that may be rounded: into what is large, or out of it.
Logit crossing(double from) {
  return [=](int query, int visited) { return from + jumping(60, 2, true)(query, visited); };
}

struct Named {
  const char* name;
  Logit logit;
};
const Named kInputs[] = {
    {"calm", rising(0)},
    {"rising by 0.5 a block", rising(0.5)},
    {"rising by 4 a block", rising(4)},
    {"rising by 30 a block", rising(30)},
    {"rising by 120 a block", rising(120)},
    {"falling", rising(-3)},
    {"one row in 64 jumps by 100", jumping(100, 64, true)},
    {"every row jumps by 100", jumping(100, 1, true)},
    {"some rows jump by 300 for a key", jumping(300, 3, false)},
    {"some rows jump by 20", jumping(20, 3, true)},
    {"some rows jump by 86, just within fp32", jumping(86, 3, true)},
    {"some rows jump beyond what may be rounded", jumping(2000, 5, true)},
    {"some rows jump to what may not be rounded", crossing(1390)},
    {"some rows jump from what may not be rounded", crossing(-1440)},
    {"spikes", spikes},
    {"one hot", one_hot},
    {"large", large},
};

HostCompiler& compiler() {
  static HostCompiler instance;
  return instance;
}

HostConfig compile(const Problem& problem, const KernelConfig& config) {
  return compile_for_host(compiler(), problem.variant, config, find_architecture("sm_90a"));
}

HostVerdict verify(const Problem& problem, const HostTensors& tensors, const KernelConfig& config) {
  return verify_on_host(make_host_case(problem, tensors), compile(problem, config),
                        find_architecture("sm_90a"), {3, {Landing::kLatest, Landing::kRandom}, 0});
}

HostRun run(const Problem& problem, const HostTensors& tensors, RunningMax running_max) {
  HostRun result = run_on_host(problem, compile(problem, config_of(running_max)),
                               find_architecture("sm_90a"), tensors, {});
  REQUIRE(result.faults.empty());
  return result;
}

bool same_row(const HostRun& left, const HostRun& right, int row) {
  const auto first = static_cast<std::size_t>(row * kColumns);
  const auto query = static_cast<std::size_t>(row);
  return std::memcmp(&left.output[first], &right.output[first], 2 * kColumns) == 0 &&
         std::memcmp(&left.log_sum_exp[query], &right.log_sum_exp[query], sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("checked sums obey the contract, however logits rise") {
  for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
    for (const DataType dtype : {DataType::kBf16, DataType::kFp16}) {
      const Problem problem = problem_of(dtype, mask);
      for (const Named& input : kInputs) {
        const auto verdict =
            verify(problem, tensors_of(problem, input.logit), config_of(RunningMax::kCheckedSum));
        INFO(enum_name(mask) << ' ' << enum_name(dtype) << ' ' << input.name << ": "
                             << verdict.explain());
        CHECK(verdict.passed());
      }
    }
  }
}

TEST_CASE("a row's bits do not change with other rows that jump") {
  const Problem problem = problem_of(DataType::kBf16, MaskKind::kFull);
  const HostRun calm = run(problem, tensors_of(problem, rising(0)), RunningMax::kCheckedSum);
  for (const Named& input : kInputs) {
    const Logit mixed = [&](int query, int visited) {
      return query % 3 == 0 ? input.logit(query, visited) : noise(query, visited);
    };
    const HostRun jumps = run(problem, tensors_of(problem, mixed), RunningMax::kCheckedSum);
    const HostRun all = run(problem, tensors_of(problem, input.logit), RunningMax::kCheckedSum);
    for (int row = 0; row < kQueries; ++row) {
      INFO(input.name << ", row " << row);
      CHECK(same_row(jumps, row % kColumns % 3 == 0 ? all : calm, row));
    }
  }
}

TEST_CASE("a newcomer beyond the reference leaves it where it is, in late blocks alone") {
  const Problem problem = problem_of(DataType::kBf16, MaskKind::kFull);
  // By less than an eighth of the row, which the lazy maximum leaves as well.
  const auto newcomer = [](int from) {
    return [=](int, int visited) { return visited == from ? 1.0 + 1.0 / 64 : 0.0; };
  };
  const auto differs = [&](int from) {
    const HostTensors tensors = tensors_of(problem, newcomer(from));
    const HostRun exact = run(problem, tensors, RunningMax::kEveryBlock);
    return run(problem, tensors, RunningMax::kCheckedSum).output != exact.output;
  };
  CHECK_FALSE(differs(0));
  CHECK(differs(15 * kBlock));
}

TEST_CASE(
    "a late key that outweighs an eighth of its row is not rounded with checked sums either") {
  constexpr int kHeavy = 15 * kBlock;
  for (const DataType dtype : {DataType::kBf16, DataType::kFp16}) {
    const Problem problem = problem_of(dtype, MaskKind::kFull);
    HostTensors tensors = tensors_of(problem, [](int query, int visited) {
      return visited == kHeavy ? 3.75 + query / 32.0 : 0.0;
    });
    for (std::size_t i = 0; i < tensors.value.size(); ++i) {
      const bool is_heavy = i / kColumns == kKeys - 1 - kHeavy;
      tensors.value[i] = element_from_float(dtype, is_heavy ? 1.0f : 0.0f);
    }
    const HostRun actual = run(problem, tensors, RunningMax::kCheckedSum);
    for (int query = 0; query < kColumns; ++query) {
      const double weight = std::exp(3.75 + query / 32.0);
      const double expected = weight / (weight + kKeys - 1);
      const int bits = dtype == DataType::kFp16 ? 11 : 8;
      const double half_unit = std::ldexp(0.5, std::ilogb(expected) + 1 - bits);
      const double output = static_cast<double>(
          element_to_float(dtype, actual.output[static_cast<std::size_t>(query * kColumns)]));
      INFO(enum_name(dtype) << ", query " << query);
      CHECK(std::abs(output - expected) <= half_unit + 1e-6 * expected);
    }
  }
}

TEST_CASE("two newcomers that are heavy together move the reference of a checked row alone") {
  const Problem problem = problem_of(DataType::kBf16, MaskKind::kFull);
  // Neighbours belong to one thread. Each weighs less than an eighth of the row, which is all that
  // a maximum can tell.
  const HostTensors tensors = tensors_of(problem, [](int query, int visited) {
    const int key = kKeys - 1 - visited;
    return key / 2 == 20 ? 2.75 + query / 512.0 : 0.0;
  });
  const HostRun lazy = run(problem, tensors, RunningMax::kLazy);
  CHECK(run(problem, tensors, RunningMax::kCheckedSum).output != lazy.output);
}

TEST_CASE("NaN and infinities reach the rows that see them, and no others") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
    const Problem problem = problem_of(DataType::kBf16, mask);
    for (const float odd : {nan, infinity, -infinity}) {
      for (const int visited : {2, 40, 9 * kBlock, 12 * kBlock + 4, kKeys - 1}) {
        HostTensors tensors = tensors_of(problem, jumping(100, 2, true));
        const auto bits = element_from_float(problem.variant.dtype, odd);
        tensors.value[static_cast<std::size_t>((kKeys - 1 - visited) * kColumns + 7)] = bits;
        const auto verdict = verify(problem, tensors, config_of(RunningMax::kCheckedSum));
        INFO(enum_name(mask) << ", value " << odd << ", key " << visited << ": "
                             << verdict.explain());
        CHECK(verdict.passed());
      }
    }
    HostTensors tensors = tensors_of(problem, jumping(100, 2, true));
    tensors.query[5 * kColumns + 5] = element_from_float(problem.variant.dtype, nan);
    tensors.query[8 * kColumns + 8] = element_from_float(problem.variant.dtype, infinity);
    const auto verdict = verify(problem, tensors, config_of(RunningMax::kCheckedSum));
    INFO(enum_name(mask) << ": " << verdict.explain());
    CHECK(verdict.passed());
  }
}

TEST_CASE("blocks are made up for in every head dimension, team and schedule") {
  for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
    for (const int head_dim : {72, 96, 136, 256}) {
      Problem problem;
      problem.variant.head_dim = head_dim;
      problem.variant.mask = mask;
      problem.sizes = {.heads = 2, .kv_heads = 1, .seqlen_q = 150, .seqlen_kv = kKeys};
      HostTensors tensors = make_inputs(problem, InputKind::kNormal, 43);
      // Column 0 of every second query asks for keys of ever larger column 0.
      for (std::size_t row = 0; row < 300; ++row) {
        const double asks = row % 2 == 0 ? std::sqrt(head_dim) : 0.0;
        tensors.query[row * static_cast<std::size_t>(head_dim)] =
            element_from_float(problem.variant.dtype, static_cast<float>(asks));
      }
      for (std::size_t key = 0; key < kKeys; ++key) {
        const double height = key < kKeys / 3 ? 110.0 : 0.0;
        tensors.key[key * static_cast<std::size_t>(head_dim)] =
            element_from_float(problem.variant.dtype, static_cast<float>(height));
      }
      KernelConfig config = config_of(RunningMax::kCheckedSum);
      config.tile_m = 128, config.warps = 8;
      config.query_stages = 2, config.tma_store = true, config.ping_pong = true;
      config.scheduler = TileScheduler::kDynamic;
      config.skip_masked = mask == MaskKind::kCausal;
      const auto verdict = verify(problem, tensors, config);
      INFO(enum_name(mask) << ' ' << head_dim << ": " << verdict.explain());
      CHECK(verdict.passed());
    }
  }
}

TEST_CASE("hidden runs of keys count for nothing, in blocks made up for too") {
  const Problem full = problem_of(DataType::kBf16, MaskKind::kFull);
  const KernelConfig config = config_of(RunningMax::kCheckedSum);
  const DeviceLimits limits = find_architecture("sm_90a");
  KernelSource source = emit(full.variant, config, KernelPart::kFa3Attention, limits);
  const auto replace = [&](const std::string& before, const std::string& after) {
    const std::size_t at = source.main.text.find(before);
    REQUIRE(at != std::string::npos);
    source.main.text.replace(at, before.size(), after);
  };
  replace("kMaskHook = false", "kMaskHook = true");
  replace("visible(heddle::ScorePosition) { return true; }",
          "visible(heddle::ScorePosition where) { return where.key / 24 % 2 == 0; }");
  const HostConfig kernels{config, {compiler().compile(source)}};
  for (const Named& input : kInputs) {
    const HostTensors tensors = tensors_of(full, input.logit);
    const HostRun actual = run_on_host(full, kernels, limits, tensors, {});
    REQUIRE(actual.faults.empty());
    const int rows = kQueries;
    for (int row = 0; row < rows; ++row) {
      double largest = -1e30, sum = 0;
      const auto logit = [&](int key) {
        const auto at = static_cast<std::size_t>(key * kColumns + row % kColumns);
        return static_cast<double>(element_to_float(DataType::kBf16, tensors.key[at]));
      };
      for (int key = 0; key < kKeys; ++key) {
        if (key / 24 % 2 == 0) largest = std::max(largest, logit(key));
      }
      double output = 0;
      for (int key = 0; key < kKeys; ++key) {
        if (key / 24 % 2 != 0) continue;
        const double weight = std::exp(logit(key) - largest);
        const auto value = tensors.value[static_cast<std::size_t>(key * kColumns + 3)];
        sum += weight;
        output += weight * static_cast<double>(element_to_float(DataType::kBf16, value));
      }
      const double got = static_cast<double>(element_to_float(
          DataType::kBf16, actual.output[static_cast<std::size_t>(row * kColumns + 3)]));
      INFO(input.name << ", row " << row);
      CHECK(std::abs(got - output / sum) <= 0.02);
      CHECK(std::abs(static_cast<double>(actual.log_sum_exp[static_cast<std::size_t>(row)]) -
                     (largest + std::log(sum))) <= 1e-5 + 1e-6 * std::abs(largest));
    }
  }
}

}  // namespace heddle
