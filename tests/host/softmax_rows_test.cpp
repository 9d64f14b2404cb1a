// The online softmax row by row: the votes of a warp change no row, integers find the maxima that
// floats find, and what may pass a reference is light.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>

#include "tests/host/softmax_rows.hpp"
#include "tests/testing/environment.hpp"

namespace heddle {
namespace {

constexpr float kScales[] = {1.44269504f, 0.18f, 1e-30f, 1e4f};
constexpr int kWarps = 40;

/// Zeros of either sign are alike: which of them a maximum is, the CPU leaves open.
bool alike(float left, float right) {
  return left == right || std::memcmp(&left, &right, sizeof left) == 0;
}

bool alike(const SoftmaxRecord& left, const SoftmaxRecord& right) {
  return alike(left.reference, right.reference) && alike(left.limit, right.limit) &&
         alike(left.sum, right.sum) && alike(left.output, right.output) &&
         alike(left.largest, right.largest) && left.note == right.note;
}

/// The first block after which the row's records differ, or -1.
int first_difference(const WarpRecords& left, const WarpRecords& right, int row) {
  for (int block = 0; block < kSoftmaxBlocks; ++block) {
    for (int lane = 0; lane < 4; ++lane) {
      if (!alike(left.at(block, row, lane), right.at(block, row, lane))) return block;
    }
  }
  return -1;
}

WarpRows calm_rows(std::uint64_t seed) {
  WarpRows rows;
  for (SoftmaxRow& row : rows) row = draw_row(RowKind::kCalm, seed++);
  return rows;
}

bool has_nan(const SoftmaxRow& row) {
  return row.kind == RowKind::kNan || row.kind == RowKind::kNanBelowZero;
}

/// After how many blocks limits were set last when `block` comes.
int settled_before(int block) {
  int settled = 1;
  while (2 * settled <= block) settled *= 2;
  return settled;
}

/// As a power of two, how light those limits let a newcomer be: in the first half of the walk a
/// quarter of the row, later an eighth; of 8 bits a sixteenth.
int weight_log2(int settled, int shift) {
  if (shift != 0) return 4;
  return 2 * settled <= kSoftmaxBlocks ? 2 : 3;
}

bool ends_as_nan(const WarpRecords& records, int row) {
  return std::isnan(records.sum(kSoftmaxBlocks - 1, row));
}

}  // namespace

TEST_CASE("What a row becomes does not depend on the other rows of its warp") {
  const std::uint64_t seed = drawn_seed();
  for (const char* entry : {"every_block", "lazy", "lazy_of_8_bits", "checked"}) {
    for (int warp = 0; warp < kWarps; ++warp) {
      std::mt19937_64 random(seed + static_cast<std::uint64_t>(warp));
      const float scale = kScales[random() % 4];
      const WarpRows rows = draw_rows(random());
      // One row beside others that never need a vote, or half of the rows.
      const bool is_alone = warp % 2 == 0;
      WarpRows others = is_alone ? calm_rows(random()) : draw_rows(random());
      std::vector<int> kept;
      for (int row = 0; row < kSoftmaxRows; ++row) {
        if (is_alone ? row != warp / 2 % kSoftmaxRows : random() % 2 == 0) continue;
        kept.push_back(row);
        others[static_cast<std::size_t>(row)] = rows[static_cast<std::size_t>(row)];
      }
      const WarpRecords left = walk_rows(entry, rows, scale);
      const WarpRecords right = walk_rows(entry, others, scale);
      for (const int row : kept) {
        INFO(entry << ", seed " << seed << ", warp " << warp << ", scale " << scale << ", row "
                   << row << " of kind "
                   << static_cast<int>(rows[static_cast<std::size_t>(row)].kind));
        CHECK(first_difference(left, right, row) == -1);
      }
    }
  }
}

TEST_CASE("Rows follow the maxima that are looked for in every block") {
  const std::uint64_t seed = drawn_seed();
  for (const auto& [lazy, asked] :
       {std::pair{"lazy", "asked"}, {"lazy_of_8_bits", "asked_of_8_bits"}}) {
    for (int warp = 0; warp < kWarps; ++warp) {
      std::mt19937_64 random(seed + static_cast<std::uint64_t>(warp));
      const float scale = kScales[random() % 4];
      const WarpRows rows = draw_rows(random());
      const WarpRecords left = walk_rows(lazy, rows, scale);
      const WarpRecords right = walk_rows(asked, rows, scale);
      for (int row = 0; row < kSoftmaxRows; ++row) {
        const SoftmaxRow& scores = rows[static_cast<std::size_t>(row)];
        INFO(lazy << ", seed " << seed << ", warp " << warp << ", scale " << scale << ", row "
                  << row << " of kind " << static_cast<int>(scores.kind));
        if (has_nan(scores)) {
          CHECK((ends_as_nan(left, row) && ends_as_nan(right, row)));
        } else {
          CHECK(first_difference(left, right, row) == -1);
        }
      }
    }
  }
}

TEST_CASE("A score that is not a number or infinite reaches its row's sum") {
  const std::uint64_t seed = drawn_seed();
  for (const char* entry : {"every_block", "lazy", "lazy_of_8_bits", "checked"}) {
    for (int warp = 0; warp < kWarps; ++warp) {
      const WarpRows rows = draw_rows(seed + static_cast<std::uint64_t>(warp));
      const WarpRecords records = walk_rows(entry, rows, 1.0f);
      for (int row = 0; row < kSoftmaxRows; ++row) {
        const SoftmaxRow& scores = rows[static_cast<std::size_t>(row)];
        // A block left out is made up for at the tile's end.
        const bool is_lost =
            records.at(kSoftmaxBlocks - 1, row, 0).note >= 0 && std::string(entry) == "checked";
        INFO(entry << ", seed " << seed << ", warp " << warp << ", row " << row);
        CHECK(ends_as_nan(records, row) ==
              (has_nan(scores) || (scores.kind == RowKind::kInfinite && !is_lost)));
      }
    }
  }
}

TEST_CASE("What passes a reference weighs less than a quarter of its row, late an eighth") {
  const std::uint64_t seed = drawn_seed();
  for (const auto& [entry, shift] :
       {std::pair{"lazy", 0}, {"lazy_of_8_bits", 4}, {"checked", 0}, {"every_block", 0}}) {
    const double one = std::ldexp(1, shift);
    for (int warp = 0; warp < kWarps; ++warp) {
      const WarpRows rows = draw_rows(seed + static_cast<std::uint64_t>(warp));
      const WarpRecords records = walk_rows(entry, rows, 1.0f);
      for (int row = 0; row < kSoftmaxRows; ++row) {
        for (int block = 1; block < kSoftmaxBlocks; ++block) {
          const SoftmaxRecord& now = records.at(block, row, 0);
          if (std::abs(now.reference) > 2048 || std::isnan(records.sum(block, row))) continue;
          const SoftmaxRecord& before = records.at(block - 1, row, 0);
          const double risen = static_cast<double>(now.reference - before.reference);
          const double weight = records.sum(block - 1, row) * std::exp2(-risen);
          const bool is_lazy = std::string(entry) != "every_block";
          const double share = std::ldexp(weight, -weight_log2(settled_before(block), shift));
          const double allowed = is_lazy ? std::max(one, share) : one;
          INFO(entry << ", seed " << seed << ", warp " << warp << ", row " << row << ", block "
                     << block);
          CHECK(records.largest(block, row) <= 1.001 * allowed);
          CHECK(records.largest(block, row) <= 257);
        }
      }
    }
  }
}

TEST_CASE("Limits follow the sums after the first, second, fourth, eighth … block") {
  const std::uint64_t seed = drawn_seed();
  for (const auto& [entry, shift] :
       {std::pair{"lazy", 0}, {"lazy_of_8_bits", 4}, {"lazy_due", 0}}) {
    const WarpRecords records = walk_rows(entry, calm_rows(seed), 1.0f);
    for (int block = 1; block < kSoftmaxBlocks; ++block) {
      const int settled = settled_before(block);
      for (int row = 0; row < kSoftmaxRows; ++row) {
        const SoftmaxRecord& record = records.at(block, row, 0);
        const double sum = records.sum(settled - 1, row);
        const double least = weight_log2(settled, shift) + shift;
        const bool has_moved = record.reference > records.at(settled - 1, row, 0).reference;
        const double settled_range = std::min(std::max(std::log2(sum) - least, 0.0), 8.0 - shift);
        const double range = has_moved ? 0.0 : settled_range;
        INFO(entry << ", seed " << seed << ", block " << block << ", row " << row);
        CHECK(static_cast<double>(record.limit - record.reference) ==
              Approx(range).epsilon(1e-5).margin(2e-6));
      }
    }
  }
}

TEST_CASE("Rows at rest are checked from their eighth block on, others four blocks later") {
  const std::uint64_t seed = drawn_seed();
  WarpRows rows = calm_rows(seed);
  for (int key = 0; key < kSoftmaxKeys; ++key) {
    rows[3].scores[static_cast<std::size_t>(5 * kSoftmaxKeys + key)] = 30.0f;
  }
  const WarpRecords records = walk_rows("checked", rows, 1.0f);
  constexpr int kChecked = -3;
  for (int block = 0; block < kSoftmaxBlocks; ++block) {
    for (int row = 0; row < kSoftmaxRows; ++row) {
      INFO("seed " << seed << ", block " << block << ", row " << row);
      CHECK((records.at(block, row, 0).note == kChecked) == (block >= (row == 3 ? 12 : 8)));
    }
  }
}

}  // namespace heddle
