#include "tuning_db/database_paths.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>

#include "tests/tuning_db/support.hpp"

using namespace heddle;
using namespace heddle::testing_db;

namespace {

using Variables = std::map<std::string, std::string>;

DatabasePaths paths(const Variables& variables, const std::string& passwd_home = "") {
  return database_paths({[&](const char* name) -> std::optional<std::string> {
                           const auto found = variables.find(name);
                           if (found == variables.end()) return std::nullopt;
                           return found->second;
                         },
                         passwd_home});
}

}  // namespace

TEST_CASE("C71: the order of places", "[paths]") {
  const TemporaryDirectory home;
  const TemporaryDirectory other;
  const std::string in_home = home / ".local/share/heddle/results.db";

  CHECK(paths({{"HOME", home.path()}}).results == in_home);
  CHECK(paths({{"HOME", home.path()}}).cubins == home / ".cache/heddle/cubins.db");
  CHECK(paths({{"HOME", home.path()}, {"XDG_DATA_HOME", "/data"}}).results ==
        "/data/heddle/results.db");
  CHECK(paths({{"HOME", home.path()}, {"XDG_CACHE_HOME", "/c d"}}).cubins ==
        "/c d/heddle/cubins.db");
  CHECK(paths({{"HEDDLE_DB", "/x/y.db"}, {"XDG_DATA_HOME", "/data"}}).results == "/x/y.db");
  CHECK(paths({{"HEDDLE_CACHE", "/x/y.db"}}).cubins == "/x/y.db");
  CHECK(paths({{"HEDDLE_CACHE", other.path()}}).cubins == other / "cubins.db");
  CHECK(paths({}, home.path()).results == in_home);
}

TEST_CASE("C71: useless homes are passed over", "[paths]") {
  const TemporaryDirectory home;
  const std::string in_home = home / ".cache/heddle/cubins.db";
  for (const std::string useless :
       {"", "/", "//", "/.", "/nonexistent/home", "relative", "~", "."}) {
    CAPTURE(useless);
    CHECK(paths({{"HOME", useless}}, home.path()).cubins == in_home);
    CHECK(paths({{"HOME", useless}}, useless).cubins.empty());
    CHECK(paths({{"HOME", useless}}, useless).results.empty());
  }
  CHECK(paths({}).results.empty());
}

TEST_CASE("C71: relative XDG values are ignored", "[paths]") {
  const TemporaryDirectory home;
  for (const std::string value : {"", "x", "./x", "~/x", "/"}) {
    CAPTURE(value);
    CHECK(paths({{"HOME", home.path()}, {"XDG_CACHE_HOME", value}}).cubins ==
          home / ".cache/heddle/cubins.db");
  }
}

TEST_CASE("C71: our own variable set to nothing means memory only", "[paths]") {
  const TemporaryDirectory home;
  const auto found = paths({{"HEDDLE_DB", ""}, {"HEDDLE_CACHE", ""}, {"HOME", home.path()}});
  CHECK(found.results.empty());
  CHECK(found.cubins.empty());
}

TEST_CASE("A tilde that no shell expanded is the home directory, never a name", "[paths]") {
  const TemporaryDirectory home;
  CHECK(paths({{"HEDDLE_DB", "~/a.db"}, {"HOME", home.path()}}).results == home / "a.db");
  CHECK(paths({{"HEDDLE_DB", "~/a.db"}, {"HOME", ""}}).results.empty());
}

TEST_CASE("A relative path of our own variable becomes absolute", "[paths]") {
  const auto found = paths({{"HEDDLE_DB", "a.db"}}).results;
  CHECK(found == (std::filesystem::current_path() / "a.db").string());
}

TEST_CASE("The real environment gives absolute paths or none", "[paths]") {
  const auto found = default_database_paths();
  CHECK((found.results.empty() || found.results.starts_with("/")));
  CHECK((found.cubins.empty() || found.cubins.starts_with("/")));
}
