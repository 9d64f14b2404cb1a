// A row's bits depend on that row: whatever the other queries of its warp make the votes of the
// softmax say, in every kernel that has them.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "runtime/host/verify.hpp"
#include "runtime/testing/element.hpp"
#include "runtime/testing/inputs.hpp"
#include "tests/testing/environment.hpp"

namespace heddle {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Way {
  std::string name;
  Problem problem;
  KernelConfig config;
};

Problem problem_of(DataType dtype, int head_dim, MaskKind mask) {
  Problem problem;
  problem.variant.dtype = dtype;
  problem.variant.head_dim = head_dim;
  problem.variant.mask = mask;
  problem.sizes.seqlen_q = 80;
  problem.sizes.seqlen_kv = 333;
  return problem;
}

KernelConfig fa3_config(RunningMax running_max) {
  KernelConfig config{.family = Family::kFa3, .tile_m = 64, .tile_n = 32, .warps = 4};
  config.running_max = running_max;
  return config;
}

Way packed(bool splits) {
  Way way{"fa3 packed heads", problem_of(DataType::kBf16, 64, MaskKind::kFull),
          fa3_config(RunningMax::kLazy)};
  way.problem.sizes.seqlen_q = 20;
  way.problem.sizes.heads = 3;
  way.problem.sizes.kv_heads = 1;
  way.config.pack_gqa = true;
  way.config.split_kv = splits;
  way.problem.sizes.num_splits = splits ? 3 : 0;
  return way;
}

Way turns() {
  Way way{"fa3 turns, teams that skip", problem_of(DataType::kBf16, 64, MaskKind::kCausal),
          fa3_config(RunningMax::kLazy)};
  way.problem.sizes.seqlen_q = 180;
  way.config.tile_m = 128, way.config.warps = 8, way.config.query_stages = 2;
  way.config.ping_pong = way.config.skip_masked = way.config.tma_store = true;
  return way;
}

Way of_8_bits(int head_dim, ScaleKind scales) {
  Way way{"fa3 e4m3", problem_of(DataType::kE4m3, head_dim, MaskKind::kFull),
          fa3_config(RunningMax::kLazy)};
  way.problem.variant.scales = scales;
  way.problem.variant.value_layout = ValueLayout::kTransposed;
  way.config.query_stages = 2;
  way.config.scheduler = TileScheduler::kStatic;
  return way;
}

std::vector<Way> ways() {
  std::vector<Way> all;
  const Problem causal = problem_of(DataType::kFp16, 64, MaskKind::kCausal);
  const Problem full = problem_of(DataType::kBf16, 64, MaskKind::kFull);
  all.push_back({"fa2", causal, {.tile_m = 64, .tile_n = 32, .warps = 4, .stages = 2}});
  all.push_back({"fa3 lazy", causal, fa3_config(RunningMax::kLazy)});
  all.push_back({"fa3 lazy, wide", problem_of(DataType::kBf16, 128, MaskKind::kFull),
                 fa3_config(RunningMax::kLazy)});
  all.push_back({"fa3 every block", full, fa3_config(RunningMax::kEveryBlock)});
  all.push_back({"fa3 checked sums", full, fa3_config(RunningMax::kCheckedSum)});
  all.push_back(of_8_bits(64, ScaleKind::kToken));
  all.push_back(of_8_bits(128, ScaleKind::kBlock));
  all.push_back(packed(false));
  all.push_back(packed(true));
  all.push_back(turns());
  return all;
}

HostRun run(const Way& way, const HostTensors& tensors) {
  static HostCompiler compiler;
  const DeviceLimits limits = find_architecture("sm_90a");
  const HostConfig kernels = compile_for_host(compiler, way.problem.variant, way.config, limits);
  HostRun result = run_on_host(way.problem, kernels, limits, tensors, {});
  for (const HostFault& fault : result.faults) FAIL(fault.describe());
  return result;
}

/// What other queries are turned into, one after the other.
float changed(int way, int column, float entry) {
  switch (way) {
    case 0:
      return 20 * entry;
    case 1:
      return -entry;
    case 2:
      return column == 0 ? kNan : entry;
    case 3:
      return 0.0f;
    case 4:
      return column == 0 ? -kNan : -20 * std::abs(entry);
    case 5:
      return column == 0 ? kInfinity : entry;
    default:
      return -0.01f * entry;
  }
}

class Rows {
 public:
  explicit Rows(const Way& way)
      : dtype_(way.problem.variant.dtype),
        columns_(way.problem.variant.head_dim),
        count_(way.problem.sizes.heads * way.problem.sizes.seqlen_q) {}

  int count() const { return count_; }

  void change(HostTensors& tensors, int row, int way) const {
    for (int column = 0; column < columns_; ++column) {
      std::uint16_t& bits = tensors.query[at(row) + static_cast<std::size_t>(column)];
      bits = element_from_float(dtype_, changed(way, column, element_to_float(dtype_, bits)));
    }
  }

  bool same(const HostRun& left, const HostRun& right, int row) const {
    const auto bytes = static_cast<std::size_t>(columns_) * sizeof(std::uint16_t);
    const auto index = static_cast<std::size_t>(row);
    return std::memcmp(&left.output[at(row)], &right.output[at(row)], bytes) == 0 &&
           std::memcmp(&left.log_sum_exp[index], &right.log_sum_exp[index], sizeof(float)) == 0;
  }

 private:
  std::size_t at(int row) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_);
  }

  DataType dtype_;
  int columns_;
  int count_;
};

/// Some keys of -inf, a whole block of them: whoever meets them with a positive number sees -inf.
void hide_keys(const Way& way, HostTensors& tensors) {
  const DataType dtype = way.problem.variant.dtype;
  if (dtype == DataType::kE4m3) return;  // has no infinity
  const auto columns = static_cast<std::size_t>(way.problem.variant.head_dim);
  for (std::size_t key = 296; key < 333; ++key) {
    tensors.key[key * columns] = element_from_float(dtype, -kInfinity);
  }
}

}  // namespace

TEST_CASE("a row's bits do not change with the queries beside it") {
  const std::uint64_t seed = drawn_seed();
  for (const Way& way : ways()) {
    const Rows rows(way);
    int round = 0;
    for (const InputKind kind : {InputKind::kJumps, InputKind::kSpikes, InputKind::kNormal}) {
      std::mt19937_64 random(seed + static_cast<std::uint64_t>(kind));
      HostTensors tensors = make_inputs(way.problem, kind, random());
      if (kind == InputKind::kNormal) hide_keys(way, tensors);
      HostTensors others = tensors;
      std::vector<int> kept;
      for (int row = 0; row < rows.count(); ++row) {
        if (random() % 2 == 0) {
          kept.push_back(row);
        } else {
          rows.change(others, row, round++ % 7);
        }
      }
      const HostRun left = run(way, tensors);
      const HostRun right = run(way, others);
      for (const int row : kept) {
        INFO(way.name << ' ' << full_text(way.problem.variant) << ", " << enum_name(kind)
                      << ", seed " << seed << ", row " << row);
        CHECK(rows.same(left, right, row));
      }
    }
  }
}

}  // namespace heddle
