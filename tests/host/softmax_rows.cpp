#include "tests/host/softmax_rows.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "tests/host/test_kernel.hpp"

namespace heddle {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int kScores = kSoftmaxBlocks * kSoftmaxKeys;
constexpr int kLanes = 4;
constexpr int kWarp = 32;

/// Draws a row's scores one after the other.
class RowPainter {
 public:
  RowPainter(RowKind kind, std::uint64_t seed)
      : kind_(kind), random_(seed), place_(below(kScores)), height_(height()) {}

  float next(int at) {
    const float noise = static_cast<float>(unit() * 2 - 1);
    const float chance = static_cast<float>(unit());
    switch (kind_) {
      case RowKind::kCalm:
        return noise;
      case RowKind::kBelowZero:
        return noise - 5;
      case RowKind::kFarBelowZero:
        return noise + height_;
      case RowKind::kZeros:
        return std::copysign(0.0f, noise);
      case RowKind::kZerosAtMost:
        return chance < 0.1f ? -0.0f : noise - 2;
      case RowKind::kHiddenFirst:
        return at < place_ ? -kInfinity : noise;
      case RowKind::kHidden:
        return -kInfinity;
      case RowKind::kInfinite:
        return at == place_ ? kInfinity : noise;
      case RowKind::kNan:
        return at == place_ ? nan() : noise;
      case RowKind::kNanBelowZero:
        return at == place_ ? nan() : noise - 2;
      case RowKind::kRising:
        return noise + height_ * static_cast<float>(at) / kScores;
      case RowKind::kJump:
        return at < place_ ? noise : noise + height_;
      case RowKind::kSpike:
        return at == place_ ? noise + height_ : noise;
      case RowKind::kComesUp:
        return at < place_ ? noise - 3 : noise + 2;
    }
    return 0;
  }

 private:
  double unit() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  int below(int count) { return static_cast<int>(unit() * count); }

  float height() {
    const auto share = static_cast<float>(unit());
    switch (kind_) {
      case RowKind::kFarBelowZero:
        return share < 0.5f ? -1e3f : -1e30f;
      case RowKind::kRising:
        return 80 * share;
      case RowKind::kJump:
        return share < 0.5f ? 2 + 20 * share : 300 * share;
      default:
        return 1 + 11 * share;
    }
  }

  float nan() {
    const float value = std::numeric_limits<float>::quiet_NaN();
    return place_ % 2 == 0 ? value : -value;
  }

  RowKind kind_;
  std::mt19937_64 random_;
  int place_;
  float height_;
};

TestKernels& kernels() {
  static HostCompiler compiler;
  static TestKernels instance(compiler, "softmax.cu", "lazy");
  return instance;
}

}  // namespace

SoftmaxRow draw_row(RowKind kind, std::uint64_t seed) {
  RowPainter painter(kind, seed);
  SoftmaxRow row{kind, {}};
  for (int at = 0; at < kScores; ++at) row.scores.push_back(painter.next(at));
  return row;
}

SoftmaxRow draw_row(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto kind = static_cast<RowKind>(random() % kRowKinds);
  return draw_row(kind, random());
}

WarpRows draw_rows(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  WarpRows rows;
  for (SoftmaxRow& row : rows) row = draw_row(random());
  return rows;
}

WarpRecords::WarpRecords() : records_(2ul * kSoftmaxBlocks * kWarp) {}

const SoftmaxRecord& WarpRecords::at(int block, int row, int lane) const {
  const int at = (block * 2 + row / 8) * kWarp + kLanes * (row % 8) + lane;
  return records_[static_cast<std::size_t>(at)];
}

double WarpRecords::sum(int block, int row) const {
  double sum = 0;
  for (int lane = 0; lane < kLanes; ++lane) sum += static_cast<double>(at(block, row, lane).sum);
  return sum;
}

double WarpRecords::largest(int block, int row) const {
  float largest = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    largest = std::max(largest, at(block, row, lane).largest);
  }
  return static_cast<double>(largest);
}

WarpRecords walk_rows(const std::string& entry, const WarpRows& rows, float scale_log2) {
  std::vector<float> scores;
  for (int block = 0; block < kSoftmaxBlocks; ++block) {
    for (const SoftmaxRow& row : rows) {
      for (int key = 0; key < kSoftmaxKeys; ++key) scores.push_back(row.score(block, key));
    }
  }
  WarpRecords records;
  TestKernels::Launch launch;
  launch.grid = {1, {kWarp, 0, 0}};
  launch.arguments.pointers[0] = scores.data();
  launch.arguments.pointers[1] = &scale_log2;
  launch.arguments.pointers[2] = records.data();
  launch.arguments.numbers[0] = kSoftmaxBlocks;
  launch.buffers = {{scores.data(), scores.size() * sizeof(float), "scores", BufferAccess::kRead},
                    {&scale_log2, sizeof scale_log2, "scale", BufferAccess::kRead},
                    {records.data(), records.bytes(), "records", BufferAccess::kReadWrite}};
  const auto faults = kernels().run(entry, launch);
  INFO(entry << '\n' << describe(faults));
  REQUIRE(faults.empty());
  return records;
}

}  // namespace heddle
