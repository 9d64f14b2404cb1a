// What actors know of each other, and what they still read.
#include <catch2/catch.hpp>

#include "runtime/host/async_reads.hpp"
#include "runtime/host/clocks.hpp"
#include "runtime/host/shadow.hpp"

namespace heddle {
namespace {

TEST_CASE("Knowledge travels by release and acquire, however many units there are") {
  Clocks clocks;
  clocks.reset(4);
  clocks.fence(0);
  std::vector<int> units;
  for (int i = 0; i < 1000; ++i) units.push_back(clocks.add_unit());
  clocks.tick(units[999]);
  clocks.learn(0, units[999], clocks.now(units[999]));
  Knowledge knowledge;
  clocks.release(0, knowledge);
  CHECK(clocks.row(1)[0] == 0);
  clocks.acquire(1, knowledge);
  CHECK(clocks.row(1)[0] == clocks.now(0));
  CHECK(clocks.row(1)[static_cast<std::size_t>(units[999])] == 2);
  CHECK(clocks.row(1)[static_cast<std::size_t>(units[998])] == 0);
  CHECK(clocks.fenced(1)[0] == 1);
  CHECK(clocks.fenced(1)[1] == 0);
  CHECK(clocks.row(2)[0] == 0);
}

TEST_CASE("A write is covered by nothing but a later write") {
  Clocks clocks;
  clocks.reset(8);
  ShadowGranule granule;
  const auto access = [&](int actor, bool write) {
    return record(
        granule,
        {clocks.now(actor), static_cast<std::uint16_t>(actor), 0x0f, write, false, nullptr},
        clocks.row(actor));
  };
  CHECK_FALSE(access(0, true));
  // More readers than there is room for: the write stays.
  Knowledge knowledge;
  clocks.release(0, knowledge);
  for (int reader = 1; reader < 7; ++reader) {
    clocks.acquire(reader, knowledge);
    CHECK_FALSE(access(reader, false));
  }
  CHECK(unknown_write(granule, 0x01, clocks.row(7), false));
  CHECK_FALSE(unknown_write(granule, 0x10, clocks.row(7), false));
  const auto collision = access(7, false);
  REQUIRE(collision);
  CHECK(collision->actor == 0);
}

TEST_CASE("Every reader is remembered by its own time") {
  AsyncReads reads;
  reads.reset(4096);
  CHECK_FALSE(reads.any());
  std::vector<int> columns;
  for (int i = 0; i < 100; ++i) columns.push_back(reads.add_column(10 + i));
  for (int i = 0; i < 100; ++i) reads.mark(7, columns[static_cast<std::size_t>(i)], 5);
  ClockVector known(110, 5);
  CHECK_FALSE(reads.unknown(7 * 16, 16, known));
  known[10 + 63] = 4;
  const auto reader = reads.unknown(7 * 16 + 15, 4, known);
  REQUIRE(reader);
  CHECK(reader->actor == 73);
  CHECK_FALSE(reads.unknown(8 * 16, 64, known));
}

}  // namespace
}  // namespace heddle
