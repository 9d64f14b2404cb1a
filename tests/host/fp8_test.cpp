// fa3 with e4m3 inputs: every granularity of scales, masks, ragged lengths, packed and split heads,
// under hostile schedules.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/host/verify.hpp"
#include "runtime/testing/inputs.hpp"

namespace heddle {
namespace {

DeviceLimits small_device() {
  DeviceLimits limits = find_architecture("sm_90a");
  limits.sm_count = 2;
  return limits;
}

Problem problem_of(MaskKind mask, ScaleKind scales, int seqlen_q, int seqlen_kv) {
  Problem problem;
  problem.variant.dtype = DataType::kE4m3;
  problem.variant.head_dim = 64;
  problem.variant.mask = mask;
  problem.variant.scales = scales;
  problem.variant.value_layout = ValueLayout::kTransposed;
  problem.sizes.heads = 2;
  problem.sizes.kv_heads = 1;
  problem.sizes.seqlen_q = seqlen_q;
  problem.sizes.seqlen_kv = seqlen_kv;
  return problem;
}

KernelConfig config_of(int tile_m, int tile_n) {
  KernelConfig config;
  config.family = Family::kFa3;
  config.tile_m = tile_m;
  config.tile_n = tile_n;
  config.warps = tile_m / 16;
  config.query_stages = 2;
  config.scheduler = TileScheduler::kStatic;
  return config;
}

HostConfig compile(const Problem& problem, const KernelConfig& config) {
  static HostCompiler compiler;
  return compile_for_host(compiler, problem.variant, config, small_device());
}

HostVerdict verify(const Problem& problem, const HostTensors& tensors, const KernelConfig& config) {
  return verify_on_host(make_host_case(problem, tensors), compile(problem, config), small_device(),
                        {3, {Landing::kLatest, Landing::kEarliest, Landing::kRandom}, 0});
}

/// What the generated float64 reference leaves in its workspace.
AttentionResult generated_reference(const Problem& problem, const HostTensors& tensors) {
  KernelConfig config;
  config.family = Family::kReference;
  config.tile_m = config.tile_n = 32;
  const HostRun run = run_on_host(problem, compile(problem, config), small_device(), tensors, {});
  REQUIRE(run.faults.empty());
  const std::size_t rows = run.log_sum_exp.size();
  const std::size_t columns = static_cast<std::size_t>(problem.variant.head_dim);
  const std::size_t output = (rows * columns * sizeof(double) + 255) / 256 * 256;
  REQUIRE(run.workspace.size() == output + 2 * rows * sizeof(double));
  const auto read = [&](std::size_t at, std::size_t count) {
    std::vector<double> values(count);
    std::memcpy(values.data(), run.workspace.data() + at, count * sizeof(double));
    return values;
  };
  AttentionResult result;
  result.output = read(0, rows * columns);
  result.log_sum_exp = read(output, rows);
  result.cut_error = read(output + rows * sizeof(double), rows);
  return result;
}

/// The largest difference, as a share of 1 + the size of what is expected.
double largest_difference(const std::vector<double>& actual, const std::vector<double>& expected) {
  REQUIRE(actual.size() == expected.size());
  double largest = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == expected[i]) continue;  // infinities
    const double share = std::abs(actual[i] - expected[i]) / (1 + std::abs(expected[i]));
    largest = std::max(largest, std::isnan(share) ? 1.0 : share);
  }
  return largest;
}

}  // namespace

TEST_CASE("fa3 takes e4m3 inputs with scales of every granularity") {
  for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
    for (const ScaleKind scales :
         {ScaleKind::kTensor, ScaleKind::kHead, ScaleKind::kBlock, ScaleKind::kToken}) {
      const Problem problem = problem_of(mask, scales, 200, 300);
      const auto verdict =
          verify(problem, make_inputs(problem, InputKind::kNormal, 11), config_of(128, 64));
      INFO(enum_name(mask) << ' ' << enum_name(scales) << ": " << verdict.explain());
      CHECK(verdict.passed());
    }
  }
}

TEST_CASE("fa3 takes e4m3 inputs of any length and every kind of tile") {
  struct Row {
    int head_dim, tile_m, tile_n, seqlen_q, seqlen_kv;
  };
  for (const Row& row :
       {Row{32, 64, 32, 70, 33}, Row{96, 192, 96, 130, 200}, Row{128, 128, 128, 65, 1},
        Row{192, 128, 64, 129, 257}, Row{256, 64, 128, 7, 127}, Row{64, 256, 64, 257, 64},
        Row{64, 64, 160, 17, 500}}) {
    for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
      Problem problem = problem_of(mask, ScaleKind::kHead, row.seqlen_q, row.seqlen_kv);
      problem.variant.head_dim = row.head_dim;
      problem.variant.output_dtype = DataType::kFp16;
      const auto verdict = verify(problem, make_inputs(problem, InputKind::kLargeLogits, 13),
                                  config_of(row.tile_m, row.tile_n));
      INFO(enum_name(mask) << " head_dim " << row.head_dim << " tile " << row.tile_m << " x "
                           << row.tile_n << ": " << verdict.explain());
      CHECK(verdict.passed());
    }
  }
}

TEST_CASE("fa3 transposes e4m3 values that come in rows") {
  struct Row {
    int head_dim, tile_m, tile_n, seqlen_q, seqlen_kv;
  };
  for (const Row& row :
       {Row{64, 128, 64, 200, 300}, Row{32, 64, 32, 70, 33}, Row{96, 192, 96, 130, 200},
        Row{128, 128, 128, 257, 129}, Row{256, 64, 64, 7, 127}, Row{64, 64, 160, 17, 500}}) {
    for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
      Problem problem = problem_of(mask, ScaleKind::kHead, row.seqlen_q, row.seqlen_kv);
      problem.variant.head_dim = row.head_dim;
      problem.variant.value_layout = ValueLayout::kRows;
      const auto verdict = verify(problem, make_inputs(problem, InputKind::kNormal, 19),
                                  config_of(row.tile_m, row.tile_n));
      INFO(enum_name(mask) << " head_dim " << row.head_dim << " tile " << row.tile_m << " x "
                           << row.tile_n << ": " << verdict.explain());
      CHECK(verdict.passed());
    }
  }
}

TEST_CASE("fa3 keeps NaN of hidden e4m3 values from causal rows, and shows it to the others") {
  for (const ValueLayout layout : {ValueLayout::kRows, ValueLayout::kTransposed}) {
    Problem problem = problem_of(MaskKind::kCausal, ScaleKind::kHead, 200, 200);
    problem.variant.value_layout = layout;
    HostTensors tensors = make_inputs(problem, InputKind::kNormal, 23);
    constexpr int kKey = 150, kColumn = 5;
    constexpr int kPlace = 144 + 13;  // key 6 of 16: position 4 * (6 % 8 / 2) + 6 % 2
    const MatrixExtent extent = value_extent(problem);
    const int at = layout == ValueLayout::kRows ? kKey * extent.columns + kColumn
                                                : kColumn * extent.columns + kPlace - 1;
    tensors.value[static_cast<std::size_t>(at)] = 0x7f;
    const auto verdict = verify(problem, tensors, config_of(128, 64));
    INFO(enum_name(layout) << ": " << verdict.explain());
    CHECK(verdict.passed());
    CHECK(std::isnan(make_host_case(problem, tensors).reference.output.back()) == false);
    int found = 0;
    for (const double entry : make_host_case(problem, tensors).reference.output) {
      found += std::isnan(entry);
    }
    CHECK(found == 2 * 50);  // two heads, queries 150 to 199, one column
  }
}

TEST_CASE("e4m3 rows without keys are 0, whatever was taken off V and K") {
  for (const ValueLayout layout : {ValueLayout::kRows, ValueLayout::kTransposed}) {
    for (const int keys : {0, 70}) {
      for (const int splits : {0, 2}) {
        Problem problem = problem_of(MaskKind::kCausal, ScaleKind::kHead, 100, keys);
        problem.variant.value_layout = layout;
        problem.sizes.num_splits = splits;
        KernelConfig config = config_of(64, 64);
        config.split_kv = splits > 0;
        HostTensors tensors = make_inputs(problem, InputKind::kNormal, 29);
        tensors.scales.value_mean.assign(64, 0.5f);
        tensors.scales.log_sum_exp_shift.assign(200, 0.25f);
        const auto verdict = verify(problem, tensors, config);
        INFO(enum_name(layout) << ' ' << keys << " keys, " << splits
                               << " splits: " << verdict.explain());
        CHECK(verdict.passed());
        CHECK(verdict.run.output.front() == 0);
        CHECK(std::isinf(verdict.run.log_sum_exp.front()));
      }
    }
  }
}

TEST_CASE("fa3 splits keys and packs heads of e4m3 inputs") {
  for (const ScaleKind scales : {ScaleKind::kHead, ScaleKind::kBlock, ScaleKind::kToken}) {
    for (const bool packs : {false, true}) {
      for (const int splits : {1, 3}) {
        Problem problem = problem_of(MaskKind::kCausal, scales, 20, 400);
        problem.sizes.heads = 6;
        problem.sizes.kv_heads = 2;
        problem.sizes.num_splits = splits;
        KernelConfig config = config_of(64, 64);
        config.split_kv = true;
        config.pack_gqa = packs;
        const auto verdict = verify(problem, make_inputs(problem, InputKind::kRising, 17), config);
        INFO(enum_name(scales) << ' ' << packs << ' ' << splits << ": " << verdict.explain());
        CHECK(verdict.passed());
      }
    }
  }
}

TEST_CASE("generated references take e4m3 inputs") {
  for (const ScaleKind scales :
       {ScaleKind::kTensor, ScaleKind::kHead, ScaleKind::kBlock, ScaleKind::kToken}) {
    for (const ValueLayout layout : {ValueLayout::kRows, ValueLayout::kTransposed}) {
      Problem problem = problem_of(MaskKind::kCausal, scales, 150, 140);  // rows without keys
      problem.variant.value_layout = layout;
      HostTensors tensors = make_inputs(problem, InputKind::kNormal, 21);
      tensors.scales.value_mean.assign(static_cast<std::size_t>(problem.variant.head_dim), 0.75f);
      tensors.scales.log_sum_exp_shift.assign(300, -1.5f);
      INFO(enum_name(scales) << ' ' << enum_name(layout));
      const auto expected = reference_attention(problem, tensors, ReferenceMode::kFloat64);
      const auto actual = generated_reference(problem, tensors);
      CHECK(largest_difference(actual.output, expected.output) < 1e-6);  // the scale is fp32
      CHECK(largest_difference(actual.log_sum_exp, expected.log_sum_exp) < 1e-6);
      CHECK(largest_difference(actual.cut_error, expected.cut_error) < 1e-9);
      CHECK(*std::max_element(actual.cut_error.begin(), actual.cut_error.end()) > 1e-4);
      KernelConfig baseline;
      baseline.family = Family::kReference;
      baseline.tile_m = baseline.tile_n = 32;
      baseline.reference = ReferenceKind::kBaseline;
      const auto verdict = verify(problem, tensors, baseline);
      INFO(verdict.explain());
      CHECK(verdict.passed());
    }
  }
}

// One column carries the logit, and beside its product a tensor core cuts the others: what that
// costs O is no fault of a kernel.
TEST_CASE("e4m3 logits of one large product are judged beside those of a tensor core") {
  for (const InputKind kind : {InputKind::kRising, InputKind::kOneHeavy}) {
    for (const int head_dim : {64, 256}) {
      Problem problem = problem_of(MaskKind::kFull, ScaleKind::kToken, 17, 127);
      problem.variant.head_dim = head_dim;
      problem.variant.output_dtype = DataType::kFp16;
      const HostTensors tensors = make_inputs(problem, kind, 5);
      KernelConfig baseline;
      baseline.family = Family::kReference;
      baseline.tile_m = baseline.tile_n = 32;
      baseline.reference = ReferenceKind::kBaseline;
      for (const KernelConfig& config : {config_of(64, 64), baseline}) {
        const auto verdict = verify(problem, tensors, config);
        INFO(enum_name(kind) << ' ' << head_dim << ' ' << canonical_text(config) << ": "
                             << verdict.explain());
        CHECK(verdict.passed());
      }
    }
  }
}

}  // namespace heddle
