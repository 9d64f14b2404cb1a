// The layouts by which TMA, wgmma and kernels agree, against the rules as they are written down.
#include <set>

#include <catch2/catch.hpp>

#include "templates/matrix_descriptor.cuh"
#include "templates/swizzle.cuh"
#include "templates/tensor_map.cuh"
#include "templates/wgmma_fragment.cuh"

namespace heddle {
namespace {

constexpr Swizzle kSwizzles[] = {Swizzle::k32, Swizzle::k64, Swizzle::k128};

TEST_CASE("A swizzle moves 16-byte chunks inside their row, and none twice") {
  for (const Swizzle swizzle : kSwizzles) {
    const int span = swizzle_span(swizzle);
    std::set<int> seen;
    for (int offset = 0; offset < 2 * swizzle_alignment(swizzle); ++offset) {
      const int place = swizzled(offset, swizzle);
      CHECK(place / span == offset / span);
      CHECK(place % 16 == offset % 16);
      CHECK(swizzled(place, swizzle) == offset);
      seen.insert(place);
    }
    CHECK(static_cast<int>(seen.size()) == 2 * swizzle_alignment(swizzle));
  }
}

TEST_CASE("The chunks of a column in eight rows meet every bank once") {
  const auto banks_of_column = [](Swizzle swizzle, int rows) {
    std::set<int> groups;  // of four banks
    for (int row = 0; row < rows; ++row) {
      groups.insert(SwizzledTile{64, swizzle}.offset(row, 0) % 128 / 16);
    }
    return groups.size();
  };
  CHECK(banks_of_column(Swizzle::k128, 8) == 8);
  CHECK(banks_of_column(Swizzle::k64, 8) == 8);
  CHECK(banks_of_column(Swizzle::k32, 8) == 8);
  CHECK(banks_of_column(Swizzle::kNone, 8) == 8);
}

TEST_CASE("Column blocks of a tile follow each other") {
  constexpr SwizzledTile kTile{80, Swizzle::k128};
  CHECK(kTile.block_bytes() == 10240);
  CHECK(kTile.bytes(256) == 20480);
  CHECK(kTile.offset(0, 128) == 10240);
  CHECK(kTile.offset(7, 0) == 7 * 128 + 7 * 16);
  CHECK(kTile.offset(8, 16) == 8 * 128 + 16);
  CHECK(SwizzledTile{84, Swizzle::k128}.is_aligned() == false);
  CHECK(SwizzledTile{84, Swizzle::k32}.is_aligned() == false);
  CHECK(SwizzledTile{88, Swizzle::k32}.is_aligned());
  CHECK(alignof(TensorMap) == 64);
}

TEST_CASE("A descriptor says what went into it") {
  const MatrixLayout layouts[] = {k_major_layout({64, Swizzle::k64}),
                                  k_major_layout({128, Swizzle::k32}),
                                  mn_major_layout({176, Swizzle::k128}),
                                  {256, 128, Swizzle::kNone, 5}};
  for (const MatrixLayout& layout : layouts) {
    const MatrixDescriptor descriptor = advance(matrix_descriptor(0x1c400, layout), 0x60);
    CHECK(start_address(descriptor) == 0x1c460);
    const MatrixLayout read = layout_of(descriptor);
    CHECK(read.leading_bytes == layout.leading_bytes);
    CHECK(read.stride_bytes == layout.stride_bytes);
    CHECK(read.swizzle == layout.swizzle);
    CHECK(read.base_offset == layout.base_offset);
  }
}

TEST_CASE("The last byte of shared memory stays in the address field") {
  constexpr unsigned kLast = 227 * 1024 - 16;
  const auto descriptor = advance(matrix_descriptor(0x400, k_major_layout({64, Swizzle::k128})),
                                  static_cast<int>(kLast) - 0x400);
  CHECK(start_address(descriptor) == kLast);
  CHECK(layout_of(descriptor).leading_bytes == 16);
}

/// Where wgmma looks for the 16-byte chunk of operand row `row`, depth bytes 16 `chunk` on, of the
/// k-major operand numbered `step`: hardware swizzles the address, eight rows are a stride apart.
int k_major_chunk(SwizzledTile tile, int step, int row, int chunk) {
  const MatrixLayout layout = k_major_layout(tile);
  const int plain = k_major_step_bytes(tile, step) + row / 8 * layout.stride_bytes +
                    row % 8 * swizzle_span(tile.swizzle) + 16 * chunk;
  return swizzled(plain, tile.swizzle);
}

TEST_CASE("Steps of a k-major operand cover the tile as TMA laid it out") {
  for (const Swizzle swizzle : kSwizzles) {
    const SwizzledTile tile{64, swizzle};
    for (int step = 0; step < 8; ++step) {
      for (int row = 0; row < 64; ++row) {
        for (int chunk = 0; chunk < 2; ++chunk) {
          CHECK(k_major_chunk(tile, step, row, chunk) == tile.offset(row, 32 * step + 16 * chunk));
        }
      }
    }
  }
}

/// The same where tile row 16 `step` + `k` is the depth and `chunk` counts along n.
int mn_major_chunk(SwizzledTile tile, int step, int k, int chunk) {
  const MatrixLayout layout = mn_major_layout(tile);
  const int span = swizzle_span(tile.swizzle);
  const int plain = mn_major_step_bytes(tile, step) + k / 8 * layout.stride_bytes + k % 8 * span +
                    16 * chunk / span * layout.leading_bytes + 16 * chunk % span;
  return swizzled(plain, tile.swizzle);
}

TEST_CASE("Steps of an MN-major operand cover the tile as TMA laid it out") {
  for (const Swizzle swizzle : kSwizzles) {
    const SwizzledTile tile{80, swizzle};
    for (int step = 0; step < 5; ++step) {
      for (int k = 0; k < 16; ++k) {
        for (int chunk = 0; chunk < 16; ++chunk) {
          CHECK(mn_major_chunk(tile, step, k, chunk) == tile.offset(16 * step + k, 16 * chunk));
        }
      }
    }
  }
}

using Places = std::set<std::pair<int, int>>;

TEST_CASE("The threads of a warpgroup hold every entry of a fragment once") {
  Places accumulator, operand16, operand8;
  for (int thread = 0; thread < 128; ++thread) {
    for (int i = 0; i < 16; ++i) {
      const MatrixPlace place = wgmma_accumulator_place(thread, i);
      accumulator.insert({place.row, place.column});
      const MatrixPlace byte = wgmma_operand_place_8bit(thread, i / 4, i % 4);
      operand8.insert({byte.row, byte.column});
      const MatrixPlace half = wgmma_operand_place_16bit(thread, i / 2 % 4, i % 2);
      operand16.insert({half.row, half.column});
    }
  }
  CHECK(accumulator.size() == 64 * 32);
  CHECK(operand8.size() == 64 * 32);
  CHECK(operand16.size() == 64 * 16);
  CHECK(*accumulator.rbegin() == std::pair{63, 31});
  CHECK(*operand8.rbegin() == std::pair{63, 31});
  CHECK(*operand16.rbegin() == std::pair{63, 15});
}

TEST_CASE("Accumulators packed in order are 16-bit operands") {
  for (int thread = 0; thread < 128; ++thread) {
    for (int packed = 0; packed < 16; ++packed) {
      for (int part = 0; part < 2; ++part) {
        const MatrixPlace score = wgmma_accumulator_place(thread, 2 * packed + part);
        const MatrixPlace operand = wgmma_operand_place_16bit(thread, packed % 4, part);
        CHECK(score.row == operand.row);
        CHECK(score.column == packed / 4 * 16 + operand.column);
      }
    }
  }
}

TEST_CASE("With keys in the permuted order no lane needs another's accumulators") {
  for (int thread = 0; thread < 128; ++thread) {
    for (int packed = 0; packed < 12; ++packed) {
      const int first = wgmma_8bit_first_accumulator(packed);
      const int sources[] = {first, first + 1, first + 4, first + 5};
      for (int part = 0; part < 4; ++part) {
        const MatrixPlace score = wgmma_accumulator_place(thread, sources[part]);
        const MatrixPlace operand = wgmma_operand_place_8bit(thread, packed % 4, part);
        CHECK(score.row == operand.row);
        CHECK(score.column == wgmma_8bit_key(packed / 4 * 32 + operand.column));
      }
    }
  }
}

}  // namespace
}  // namespace heddle
