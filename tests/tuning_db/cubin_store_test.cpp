#include "tuning_db/cubin_store.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

#include "tests/tuning_db/support.hpp"

using namespace heddle;
using namespace heddle::testing_db;

TEST_CASE("A cubin comes back as it was, in this store and in the next", "[cubins]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "new/deeper/cubins.db";
  Warnings warnings;
  {
    auto store = open_cubins(path, warnings);
    CHECK_FALSE(store.get(cubin_key(1)));
    store.put(cubin_key(1), sample_cubin(1));
    CHECK(store.state() == StorageState::kFile);
  }
  auto store = open_cubins(path, warnings);
  const auto found = store.get(cubin_key(1));
  REQUIRE(found);
  CHECK(same_cubin(*found, sample_cubin(1)));
  CHECK_FALSE(store.get(cubin_key(2)));
  CHECK(store.read_count() == 2);
  CHECK(store.size_bytes() == 4096);
  CHECK(warnings.joined().empty());
  struct stat status {};
  REQUIRE(::stat((directory / "new").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
}

TEST_CASE("Without a path cubins stay in memory, silently", "[cubins]") {
  Warnings warnings;
  auto store = open_cubins("", warnings);
  store.put(cubin_key(1), sample_cubin(1));
  CHECK(store.get(cubin_key(1)));
  CHECK(store.in_memory());
  CHECK(store.read_count() == 0);
  store.clear();
  CHECK_FALSE(store.get(cubin_key(1)));
  CHECK(warnings.texts.empty());
}

TEST_CASE("C17: any change of the key is a miss, undoing it a hit", "[cubins]") {
  Warnings warnings;
  auto store = open_cubins("", warnings);
  const auto key = [](const std::string& architecture, const std::string& nvrtc) {
    return hash_text("source|" + architecture + "|" + nvrtc);
  };
  store.put(key("sm_90a", "13.0"), sample_cubin(1));
  CHECK_FALSE(store.get(key("sm_80", "13.0")));
  CHECK_FALSE(store.get(key("sm_90a", "13.1")));
  CHECK(store.get(key("sm_90a", "13.0")));
}

TEST_CASE("C37: a damaged entry is a miss and is replaced by the next put", "[cubins]") {
  const std::string damage = GENERATE(
      "code = substr(code, 1, length(code) / 2)", "code = x''",
      "code = cast(substr(code, 1, 9) || x'ff' || substr(code, 11) AS BLOB)", "notes = 'xx'",
      "entry = cast(x'ff41' AS TEXT)", "checksum = ''", "notes = 'future_field=1'");
  CAPTURE(damage);
  const TemporaryDirectory directory;
  const std::string path = directory / "cubins.db";
  Warnings warnings;
  {
    auto store = open_cubins(path, warnings);
    store.put(cubin_key(1), sample_cubin(1));
    store.put(cubin_key(2), sample_cubin(2));
  }
  execute_sql(path, "UPDATE cubins SET " + damage + " WHERE key = '" + cubin_key(1).hex() + "'");
  auto store = open_cubins(path, warnings);
  CHECK_FALSE(store.get(cubin_key(1)));
  CHECK(store.get(cubin_key(2)));
  store.put(cubin_key(1), sample_cubin(1));
  const auto again = store.get(cubin_key(1));
  REQUIRE(again);
  CHECK(same_cubin(*again, sample_cubin(1)));
}

TEST_CASE("C37: another key's sound row is a miss, as where an index is damaged", "[cubins]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "cubins.db";
  Warnings warnings;
  open_cubins(path, warnings).put(cubin_key(1), sample_cubin(1));
  execute_sql(path, "UPDATE cubins SET key = '" + cubin_key(2).hex() + "'");
  auto store = open_cubins(path, warnings);
  CHECK_FALSE(store.get(cubin_key(2)));
  store.put(cubin_key(2), sample_cubin(2));
  const auto again = store.get(cubin_key(2));
  REQUIRE(again);
  CHECK(same_cubin(*again, sample_cubin(2)));
}

TEST_CASE("C89: the size limit holds and the least recently used go first", "[cubins]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "cubins.db";
  Warnings warnings;
  CubinStore store({.path = path, .capacity_bytes = 10 << 20, .warn = warnings.sink()});
  constexpr std::size_t kSize = 150000;
  for (int i = 0; i < 100; ++i) {
    store.put(cubin_key(i), sample_cubin(i, kSize));
    REQUIRE(store.get(cubin_key(0)));  // used all the time: stays
    REQUIRE(store.size_bytes() <= 10 << 20);
  }
  CHECK(store.size_bytes() > 9 << 20);
  CHECK(store.get(cubin_key(99)));
  CHECK_FALSE(store.get(cubin_key(1)));
  // Log included: SQLite keeps up to 4 MiB of it between checkpoints.
  std::uintmax_t on_disk = 0;
  for (const auto& name : files_in(directory.path())) {
    on_disk += std::filesystem::file_size(directory / name);
  }
  CHECK(on_disk < 15 << 20);
  CHECK(warnings.joined().empty());

  store.put(cubin_key(1000), sample_cubin(0, 11 << 20));
  CHECK_FALSE(store.get(cubin_key(1000)));
  CHECK(warnings.texts.size() == 1);
}

TEST_CASE("clear empties the file", "[cubins]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "cubins.db";
  Warnings warnings;
  auto store = open_cubins(path, warnings);
  for (int i = 0; i < 20; ++i) store.put(cubin_key(i), sample_cubin(i, 1 << 18));
  store.clear();
  CHECK(store.size_bytes() == 0);
  CHECK_FALSE(store.get(cubin_key(3)));
  CHECK(std::filesystem::file_size(path) < 100000);
  store.put(cubin_key(3), sample_cubin(3));
  CHECK(store.get(cubin_key(3)));
  CHECK(warnings.joined().empty());
}

TEST_CASE("A hit is recorded as a use at most once an hour", "[cubins]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "cubins.db";
  const std::string query = "SELECT CAST(last_used AS TEXT) FROM cubins";
  Warnings warnings;
  open_cubins(path, warnings).put(cubin_key(1), sample_cubin(1));
  const std::string written = query_text(path, query);
  CHECK(open_cubins(path, warnings).get(cubin_key(1)));
  CHECK(query_text(path, query) == written);
  execute_sql(path, "UPDATE cubins SET last_used = 1");
  CHECK(open_cubins(path, warnings).get(cubin_key(1)));
  CHECK(query_text(path, query) >= written);
  CHECK(query_text(path, query) != "1");
}

TEST_CASE("Threads share one store", "[cubins]") {
  const TemporaryDirectory directory;
  Warnings warnings;
  auto store = open_cubins(directory / "cubins.db", warnings);
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        store.put(cubin_key(t * 100 + i), sample_cubin(i));
        const auto found = store.get(cubin_key(t * 100 + i));
        good += found && same_cubin(*found, sample_cubin(i)) ? 1 : 0;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(good == 100);
  CHECK(warnings.joined().empty());
}
