#include "generator/architecture.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "generator/error.hpp"

namespace heddle {
namespace {

std::string row_name(int major, int minor) {
  const DeviceLimits* row = row_for_capability(major, minor);
  return row == nullptr ? "none" : row->architecture;
}

TEST_CASE("Every row is found by its name") {
  std::set<std::string> names;
  for (const DeviceLimits& row : architecture_table()) {
    CHECK(&find_architecture(row.architecture) == &row);
    CHECK(names.insert(row.architecture).second);
  }
  CHECK(names == std::set<std::string>{"sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a",
                                       "sm_100", "sm_100a", "sm_103", "sm_103a", "sm_120",
                                       "sm_120a"});
}

TEST_CASE("Rows are named after their capability and filled in") {
  for (const DeviceLimits& row : architecture_table()) {
    INFO(row.architecture);
    const std::string plain =
        "sm_" + std::to_string(row.capability_major * 10 + row.capability_minor);
    CHECK((row.architecture == plain || row.architecture == plain + "a"));
    // A block's opt-in limit is an SM's memory less the 1 KiB that the driver keeps.
    CHECK(row.shared_bytes_per_sm - row.shared_bytes_per_block == 1024);
    CHECK(row.registers_per_sm == 65536);
    CHECK(row.threads_per_sm % 512 == 0);
    CHECK(row.blocks_per_sm >= 16);
    CHECK(row.sm_count > 0);
    CHECK(row.l2_bytes >= 4LL << 20);
    CHECK(row.clock_ghz > 1);
    CHECK(row.tensor_flops_per_clock_sm >= 512);
    CHECK(row.hbm_bytes_per_second > 1e11);
  }
}

TEST_CASE("The H200's figures") {
  const DeviceLimits& row = find_architecture("sm_90a");
  CHECK(row.sm_count == 132);
  CHECK(row.shared_bytes_per_block == 232448);
  CHECK(row.shared_bytes_per_sm == 233472);
  CHECK(row.l2_bytes == 60LL << 20);
  CHECK(row.hbm_bytes_per_second == 4.8e12);
  CHECK(row.threads_per_sm == 2048);
}

TEST_CASE("An unknown name lists the known ones") {
  try {
    find_architecture("sm_75");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kInvalidArgument);
    CHECK(error.field() == "arch");
    CHECK_THAT(error.what(), Catch::Contains("'sm_75'") && Catch::Contains("sm_80, sm_86"));
  }
}

TEST_CASE("A device gets its own row, with its 'a' features where there are any") {
  CHECK(row_name(8, 0) == "sm_80");
  CHECK(row_name(8, 6) == "sm_86");
  CHECK(row_name(8, 9) == "sm_89");
  CHECK(row_name(9, 0) == "sm_90a");
  CHECK(row_name(10, 0) == "sm_100a");
  CHECK(row_name(10, 3) == "sm_103a");
  CHECK(row_name(12, 0) == "sm_120a");
}

TEST_CASE("An unknown minor gets an older row of its major, never an 'a' row: those do not run") {
  CHECK(row_name(8, 8) == "sm_87");
  CHECK(row_name(9, 5) == "sm_90");
  CHECK(row_name(10, 1) == "sm_100");
  CHECK(row_name(10, 7) == "sm_103");
  CHECK(row_name(12, 1) == "sm_120");
}

TEST_CASE("Other majors have no row") {
  CHECK(row_name(7, 5) == "none");
  CHECK(row_name(11, 0) == "none");
  CHECK(row_name(13, 0) == "none");
  CHECK(row_name(0, 0) == "none");
}

}  // namespace
}  // namespace heddle
