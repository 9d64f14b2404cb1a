#include "tuning_db/database.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "tests/tuning_db/support.hpp"
#include "tuning_db/results_row.hpp"

using namespace heddle;
using namespace heddle::testing_db;

namespace {

constexpr int kApplication = 42;
constexpr const char* kOneStep[] = {"CREATE TABLE pets (name TEXT)"};
constexpr const char* kTwoSteps[] = {"CREATE TABLE pets (name TEXT)",
                                     "ALTER TABLE pets ADD COLUMN legs INTEGER DEFAULT 4"};
constexpr Schema kOld{kApplication, kOneStep, "FULL"};
constexpr Schema kNew{kApplication, kTwoSteps, "FULL"};

Database::Options options(const std::string& path, Warnings& warnings) {
  return {.path = path,
          .read_only = false,
          .busy_timeout_ms = 500,
          .warn = warnings.sink(),
          .file_system = nullptr};
}

bool insert(Database& database, const std::string& name) {
  return database.write([&](SQLite::Database& file) {
    SQLite::Statement statement(file, "INSERT INTO pets (name) VALUES (?)");
    statement.bind(1, name);
    statement.exec();
  });
}

}  // namespace

TEST_CASE("An older file is migrated, rows kept", "[database]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "pets.db";
  Warnings warnings;
  {
    Database database(options(path, warnings), kOld);
    CHECK(insert(database, "rex"));
  }
  CHECK(query_text(path, "PRAGMA user_version") == "1");
  Database database(options(path, warnings), kNew);
  CHECK(database.state() == StorageState::kFile);
  CHECK(query_text(path, "PRAGMA user_version") == "2");
  CHECK(query_text(path, "SELECT name || legs FROM pets") == "rex4");
  CHECK(query_text(path, "PRAGMA journal_mode") == "wal");
  CHECK(warnings.joined().empty());
}

TEST_CASE("A file of version 0 is migrated from the beginning", "[database]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "pets.db";
  SECTION("empty") {
    write_file(path, "");
  }
  SECTION("a database without tables") {
    execute_sql(path, "VACUUM");
  }
  SECTION("ours, of before the first version") {
    execute_sql(path, "PRAGMA application_id = 42; CREATE TABLE draft (x)");
  }
  Warnings warnings;
  Database database(options(path, warnings), kNew);
  CHECK(insert(database, "tom"));
  CHECK(query_text(path, "PRAGMA user_version") == "2");
  CHECK(warnings.joined().empty());
}

TEST_CASE("A migration that fails leaves the file as it was", "[database]") {
  static constexpr const char* kBroken[] = {"CREATE TABLE pets (name TEXT)",
                                            "CREATE TABLE more (x); nonsense"};
  const TemporaryDirectory directory;
  const std::string path = directory / "pets.db";
  Warnings warnings;
  { Database database(options(path, warnings), kOld); }
  static constexpr Schema kBrokenSchema{kApplication, kBroken, "FULL"};
  Database database(options(path, warnings), kBrokenSchema);
  CHECK(database.state() == StorageState::kMemory);
  CHECK(warnings.texts.size() == 1);
  CHECK(query_text(path, "PRAGMA user_version") == "1");
  CHECK(query_text(path, "SELECT count(*) FROM sqlite_master WHERE name = 'more'") == "0");
}

TEST_CASE("A newer schema or another program's file is left alone", "[database]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "pets.db";
  std::string expected;
  SECTION("newer") {
    execute_sql(path, "PRAGMA application_id = 42; PRAGMA user_version = 3; CREATE TABLE t (x)");
    expected = "newer heddle";
  }
  SECTION("foreign") {
    execute_sql(path, "CREATE TABLE bookmarks (x); INSERT INTO bookmarks VALUES (1)");
    expected = "another kind";
  }
  const std::string before = read_file(path);
  Warnings warnings;
  Database database(options(path, warnings), kNew);
  CHECK_FALSE(insert(database, "rex"));
  CHECK_FALSE(insert(database, "rex"));
  CHECK(database.state() == StorageState::kMemory);
  REQUIRE(warnings.texts.size() == 1);
  CHECK_THAT(warnings.texts[0], Catch::Contains(expected) && Catch::Contains(path));
  CHECK(read_file(path) == before);
  CHECK(files_in(directory.path()).size() == 1);
}

TEST_CASE("C97: no WAL on a network file system, and a warning", "[database]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "pets.db";
  Warnings warnings;
  const auto kind = GENERATE(FileSystemKind::kNetwork, FileSystemKind::kUncertain);
  const bool was_wal = GENERATE(false, true);
  if (was_wal) Database(options(path, warnings), kNew);
  auto network = options(path, warnings);
  network.file_system = [&](const std::string&) { return kind; };
  {
    Database database(network, kNew);
    CHECK(insert(database, "rex"));
    CHECK(query_text(path, "PRAGMA journal_mode") == "delete");
    CHECK_FALSE(std::filesystem::exists(path + "-wal"));
  }
  if (kind == FileSystemKind::kNetwork) {
    REQUIRE(warnings.texts.size() == 1);
    CHECK_THAT(warnings.texts[0], Catch::Contains("network file system"));
  } else {
    CHECK(warnings.texts.empty());
  }
}

TEST_CASE("C61: any path is a plain path", "[database]") {
  const TemporaryDirectory directory;
  std::string deep = directory / "a b/ключ 测试/it's \"q\" %d%20;$HOME?mode=ro#x";
  SECTION("strange characters") {}
  SECTION("200 characters more") {
    deep += "/" + std::string(200, 'x');
  }
  SECTION("100 directories deep") {
    for (int i = 0; i < 100; ++i) deep += "/d";
  }
  SECTION("a directory name of 255 bytes") {
    deep += "/" + std::string(255, 'n');
  }
  const std::string path = deep + "/p.db";
  Warnings warnings;
  {
    Database database(options(path, warnings), kNew);
    CHECK(insert(database, "rex"));
    CHECK(database.state() == StorageState::kFile);
  }
  auto read_only = options(path, warnings);
  read_only.read_only = true;
  Database database(read_only, kNew);
  CHECK(database.state() == StorageState::kReadOnlyFile);
  std::string name;
  CHECK(database.read([&](SQLite::Database& file) {
    name = file.execAndGet("SELECT name FROM pets").getString();
  }));
  CHECK(name == "rex");
  CHECK(warnings.joined().empty());
}

TEST_CASE("A path longer than SQLite takes is memory with one warning", "[database]") {
  const TemporaryDirectory directory;
  std::string path = directory.path();
  for (int i = 0; i < 4; ++i) path += "/" + std::string(200, 'x');
  Warnings warnings;
  Database database(options(path + "/p.db", warnings), kNew);
  CHECK_FALSE(insert(database, "rex"));
  CHECK(database.state() == StorageState::kMemory);
  CHECK(warnings.texts.size() == 1);
}

TEST_CASE("A file deleted while open is made anew by the next write", "[database]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "sub/pets.db";
  Warnings warnings;
  Database database(options(path, warnings), kNew);
  CHECK(insert(database, "rex"));
  std::filesystem::remove_all(directory / "sub");
  CHECK(insert(database, "tom"));
  CHECK(query_text(path, "SELECT group_concat(name) FROM pets") == "tom");
  CHECK(warnings.joined().empty());
}

TEST_CASE("The table of results has exactly the columns of a row", "[database]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "results.db";
  Warnings warnings;
  { Database database(options(path, warnings), results_schema()); }
  std::set<std::string> expected{"id",          "checksum",    "variant_hash",
                                 "bucket_hash", "device_hash", "config_hash"};
  for (const auto& column : columns_of(Measurement{})) expected.insert(column.name);
  std::string names;
  for (const auto& name : expected) names += (names.empty() ? "" : ",") + name;
  CHECK(query_text(path,
                   "SELECT group_concat(name) FROM"
                   " (SELECT name FROM pragma_table_info('measurements') ORDER BY name)") == names);
}
