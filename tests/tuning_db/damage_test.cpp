// Damaged files: set aside where need be, never a crash, never a wrong answer.

#include <signal.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "tests/tuning_db/support.hpp"

using namespace heddle;
using namespace heddle::testing_db;

namespace {

bool any_config(const KernelConfig&) {
  return true;
}

std::optional<Lookup> ask(const ResultsStore& store) {
  const auto row = sample_row();
  return store.find(row.variant, row.bucket, row.device, any_config);
}

std::string corrupt_file_in(const std::string& directory) {
  for (const auto& name : files_in(directory)) {
    if (name.find(".corrupt-") != std::string::npos && !name.ends_with("-wal")) return name;
  }
  return {};
}

}  // namespace

TEST_CASE("C37: a damaged file is moved aside and a new one made", "[degrade]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "results.db";
  Warnings warnings;
  {
    auto store = open_results(path, warnings);
    std::vector<Measurement> rows;
    for (int i = 0; i < 200; ++i) {
      rows.push_back(sample_row());
      rows.back().clock_mhz = i;
    }
    store.record(rows);
  }
  std::string bytes = read_file(path);
  SECTION("cut to half") {
    bytes.resize(bytes.size() / 2);
  }
  SECTION("cut to an odd length") {
    bytes.resize(5000);
  }
  SECTION("a text file") {
    bytes = "this is no database\n";
  }
  SECTION("pages overwritten") {
    bytes.replace(4096, bytes.size() - 4096, bytes.size(), '\x5a');
  }
  write_file(path, bytes);
  {
    auto store = open_results(path, warnings);
    ask(store);  // may be what notices
    store.record(sample_row());
    CHECK(ask(store));
    CHECK(store.state() == StorageState::kFile);
  }
  REQUIRE(warnings.texts.size() == 1);
  const std::string moved = corrupt_file_in(directory.path());
  REQUIRE_FALSE(moved.empty());
  CHECK_THAT(warnings.texts[0], Catch::Contains(moved));
  CHECK(read_file(directory / moved).starts_with(bytes.substr(0, 20)));
  // The next start is clean.
  Warnings next;
  auto store = open_results(path, next);
  CHECK(ask(store));
  CHECK(store.list().size() == 1);
  CHECK(next.joined().empty());
}

TEST_CASE("C37: a file cut to nothing or without its log is simply used", "[degrade]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "cubins.db";
  Warnings warnings;
  open_cubins(path, warnings).put(cubin_key(1), sample_cubin(1));
  SECTION("cut to 0 bytes") {
    write_file(path, "");
  }
  SECTION("log deleted while closed") {
    // Killed with the log still there, which then goes missing.
    wait_for(start_child([&] {
      auto store = open_cubins(path, warnings);
      store.put(cubin_key(2), sample_cubin(2));
      ::raise(SIGKILL);
      return 0;
    }));
    CHECK(std::filesystem::remove(path + "-wal"));
  }
  auto store = open_cubins(path, warnings);
  CHECK_FALSE(store.get(cubin_key(2)));
  store.put(cubin_key(2), sample_cubin(2));
  CHECK(store.get(cubin_key(2)));
  CHECK(warnings.joined().empty());
}

TEST_CASE("C37: random damage never crashes and never gives a wrong answer", "[degrade]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "cubins.db";
  Warnings none;
  {
    auto store = open_cubins(path, none);
    for (int i = 0; i < 8; ++i) store.put(cubin_key(i), sample_cubin(i));
  }
  const std::string sound = read_file(path);
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::srand(seed);
  for (int round = 0; round < 30; ++round) {
    std::string bytes = sound;
    for (int flip = 0; flip < 1 + round % 8; ++flip) {
      bytes[static_cast<std::size_t>(std::rand()) % bytes.size()] ^=
          static_cast<char>(1 + std::rand() % 255);
    }
    write_file(path, bytes);
    Warnings warnings;
    auto store = open_cubins(path, warnings);
    for (int i = 0; i < 8; ++i) {
      const auto found = store.get(cubin_key(i));
      REQUIRE((!found || same_cubin(*found, sample_cubin(i))));
    }
    store.put(cubin_key(9), sample_cubin(9));
    REQUIRE(store.get(cubin_key(9)));
    REQUIRE(warnings.texts.size() <= 2);
  }
}
