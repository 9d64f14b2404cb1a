// The order in which blocks come to their tiles: every one once, and neighbours share keys and
// values.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <tuple>

#include "templates/parameters.cuh"
#include "tests/host/test_kernel.hpp"

namespace heddle {
namespace {

struct Item {  // WorkItem of part/scheduler.cuh
  int query_tile, split, head, kv_head, batch;
  auto key() const { return std::tuple(query_tile, split, head, batch); }
};

struct Shape {
  int batch, heads, kv_heads, seqlen, splits = 1;
};
constexpr int kTileM = 128;
constexpr long long kMib = 1 << 20;

std::vector<Item> list(const std::string& entry, const Shape& shape, int packed_heads = 1) {
  static HostCompiler compiler;
  static TestKernels kernels(compiler, "tile_order.cu", "in_turn");
  AttentionParameters parameters{};
  parameters.batch = shape.batch;
  parameters.heads = shape.heads;
  parameters.kv_heads = shape.kv_heads;
  parameters.seqlen_kv = shape.seqlen;
  parameters.query_tiles = (shape.seqlen + kTileM - 1) / kTileM;
  parameters.num_splits = shape.splits;
  parameters.packed_heads = packed_heads;
  std::vector<Item> items(1 << 16, Item{-1, -1, -1, -1, -1});
  int count = -1;
  TestKernels::Launch launch;
  launch.grid = {1, {32, 0, 0}};
  launch.arguments.pointers[0] = &parameters;
  launch.arguments.pointers[1] = items.data();
  launch.arguments.pointers[2] = &count;
  launch.arguments.numbers[0] = static_cast<int>(items.size());
  launch.buffers = {{&parameters, sizeof parameters, "parameters", BufferAccess::kRead},
                    {items.data(), items.size() * sizeof(Item), "items", BufferAccess::kReadWrite},
                    {&count, sizeof count, "count", BufferAccess::kReadWrite}};
  const auto faults = kernels.run(entry, launch);
  INFO(entry << '\n' << describe(faults));
  REQUIRE(faults.empty());
  REQUIRE(count >= 0);
  REQUIRE(count <= static_cast<int>(items.size()));
  items.resize(static_cast<std::size_t>(count));
  return items;
}

const Shape kShapes[] = {{16, 16, 16, 1024},   {8, 16, 16, 2048}, {1, 16, 16, 16384},
                         {3, 5, 5, 700},       {1, 1, 1, 40},     {2, 32, 8, 4096},
                         {1, 16, 2, 9000},     {7, 12, 4, 333},   {1, 3, 3, 40000},
                         {2, 16, 16, 1024, 3}, {1, 8, 2, 8192, 4}};

void check_complete(const std::vector<Item>& items, const Shape& shape, int splits, int step) {
  std::set<std::tuple<int, int, int, int>> seen;
  const int group = shape.heads / shape.kv_heads;
  for (const Item& item : items) {
    CHECK(item.kv_head == item.head / group);
    seen.insert(item.key());
  }
  CHECK(seen.size() == items.size());  // none twice
  const int tiles = (shape.seqlen + kTileM - 1) / kTileM;
  const int packs = shape.kv_heads * ((group + step - 1) / step);
  CHECK(static_cast<int>(items.size()) == tiles * splits * packs * shape.batch);
  for (const auto& [tile, split, head, batch] : seen) {
    CHECK((0 <= tile && tile < tiles && 0 <= split && split < splits));
    CHECK((0 <= head && head < shape.heads && head % group % step == 0));
    CHECK((0 <= batch && batch < shape.batch));
  }
}

TEST_CASE("Every tile of every head comes once, in whatever order") {
  for (const Shape& shape : kShapes) {
    INFO(shape.batch << " x " << shape.heads << "/" << shape.kv_heads << " x " << shape.seqlen
                     << " splits " << shape.splits);
    if (shape.splits == 1) {
      check_complete(list("in_turn", shape), shape, 1, 1);
      check_complete(list("longest_first", shape), shape, 1, 1);
      const int packed = std::min(shape.heads / shape.kv_heads, 4);
      check_complete(list("longest_first_packed", shape, packed), shape, 1, packed);
    } else {
      check_complete(list("longest_first_splits", shape), shape, shape.splits, 1);
    }
  }
}

using Head = std::pair<int, int>;  // a sequence's keys and values

struct Group {
  std::set<Head> heads;
  std::size_t items = 0;
};

/// A group ends where a longer tile follows a shorter one.
std::vector<Group> groups_of(const std::vector<Item>& items) {
  std::vector<Group> groups(1);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0 && items[i].query_tile > items[i - 1].query_tile) groups.emplace_back();
    groups.back().heads.emplace(items[i].batch, items[i].kv_head);
    ++groups.back().items;
  }
  return groups;
}

TEST_CASE("Longest first: groups of heads that L2 keeps, no head in two, all about equal") {
  for (const Shape& shape : kShapes) {
    INFO(shape.batch << " x " << shape.heads << "/" << shape.kv_heads << " x " << shape.seqlen);
    const auto groups =
        groups_of(list(shape.splits == 1 ? "longest_first" : "longest_first_splits", shape));
    const long long head_bytes = 4LL * 128 * shape.seqlen;
    std::set<Head> before;
    for (const Group& group : groups) {
      const auto heads = static_cast<long long>(group.heads.size());
      CHECK((heads == 1 || heads * head_bytes <= 32 * kMib));
      CHECK(2 * heads >= static_cast<long long>(groups[0].heads.size()));
      for (const Head& head : group.heads) CHECK(before.insert(head).second);
    }
  }
}

}  // namespace
}  // namespace heddle
