// Whatever happens to the file: nothing throws, the answers stay right, the user hears of it once.

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

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

/// Both stores take and give back while nothing but memory is left.
void check_memory_only(const std::string& results, const std::string& cubins) {
  Warnings warnings;
  Warnings cubin_warnings;
  auto store = open_results(results, warnings);
  auto cache = open_cubins(cubins, cubin_warnings);
  for (int i = 0; i < 3; ++i) {
    store.record(sample_row());
    cache.put(cubin_key(i), sample_cubin(i));
    CHECK(ask(store));
    CHECK(cache.get(cubin_key(i)));
  }
  CHECK(store.in_memory());
  CHECK(cache.in_memory());
  CHECK(warnings.texts.size() == 1);
  CHECK(cubin_warnings.texts.size() == 1);
}

}  // namespace

TEST_CASE("C39: a parent that is a file, a directory or device in the file's place", "[degrade]") {
  const TemporaryDirectory directory;
  write_file(directory / "file", "text");
  std::filesystem::create_directory(directory / "results.db");
  check_memory_only(directory / "file/results.db", directory / "file/sub/cubins.db");
  check_memory_only(directory / "results.db", directory / "results.db");
  check_memory_only("/dev/null", "/dev/null");
  CHECK(read_file(directory / "file") == "text");
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("C39: a directory without write access", "[degrade]") {
  const TemporaryDirectory directory;
  ::chmod(directory.path().c_str(), 0755);
  const std::string empty = directory / "empty";
  std::filesystem::create_directory(empty);
  ::chmod(empty.c_str(), 0555);
  CHECK(passes_as_ordinary_user([&] {
    Warnings warnings;
    auto store = open_results(empty + "/results.db", warnings);
    store.record(sample_row());
    return ask(store) && store.in_memory() && warnings.texts.size() == 1 && files_in(empty).empty();
  }));
}

TEST_CASE("C39: a filled file that cannot be written is served", "[degrade]") {
  const TemporaryDirectory directory;
  ::chmod(directory.path().c_str(), 0755);
  const std::string results = directory / "results.db";
  const std::string cubins = directory / "cubins.db";
  Warnings none;
  open_results(results, none).record(sample_row());
  open_cubins(cubins, none).put(cubin_key(1), sample_cubin(1));
  const bool file_too = GENERATE(false, true);
  const mode_t mode = file_too ? 0444 : 0666;
  ::chmod(results.c_str(), mode);
  ::chmod(cubins.c_str(), mode);
  ::chmod(directory.path().c_str(), 0555);
  CHECK(passes_as_ordinary_user([&] {
    Warnings warnings;
    auto store = open_results(results, warnings);
    auto faster = sample_row();
    faster.config.tile_m = 16;
    faster.median_seconds = 1e-9;
    const bool served = ask(store) && ask(store)->config.tile_m == 128;
    store.record(faster);
    return served && ask(store)->config.tile_m == 16 && warnings.texts.size() == 1 &&
           store.state() == StorageState::kReadOnlyFile && store.unwritten_count() == 1;
  }));
  CHECK(passes_as_ordinary_user([&] {
    Warnings warnings;
    auto cache = open_cubins(cubins, warnings);
    const bool served = cache.get(cubin_key(1)).has_value();
    cache.put(cubin_key(2), sample_cubin(2));
    return served && cache.get(cubin_key(2)) && warnings.texts.size() == 1;
  }));
  ::chmod(directory.path().c_str(), 0755);
}

TEST_CASE("A read-only store reads, keeps new rows to itself and changes no byte", "[degrade]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "results.db";
  Warnings warnings;
  open_results(path, warnings).record(sample_row());
  const std::string before = read_file(path);
  {
    ResultsStore store({.path = path, .read_only = true, .warn = warnings.sink()});
    auto row = sample_row();
    row.provenance.when = "2026-01-01T00:00:00Z";
    store.record(row);
    CHECK(ask(store));
    CHECK(store.list().size() == 2);
    CHECK(store.state() == StorageState::kReadOnlyFile);
  }
  CHECK(read_file(path) == before);
  CHECK(warnings.joined().empty());
}

TEST_CASE("C89: a file size limit (as a quota) met at any moment", "[degrade]") {
  const TemporaryDirectory directory;
  const rlim_t limit = GENERATE(0, 1000, 20000, 300000, 1000000);
  CAPTURE(limit);
  const int status = wait_for(start_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit size{limit, limit};
    ::setrlimit(RLIMIT_FSIZE, &size);
    Warnings warnings;
    Warnings cubin_warnings;
    auto store = open_results(directory / "results.db", warnings);
    auto cache = open_cubins(directory / "cubins.db", cubin_warnings);
    for (int i = 0; i < 30; ++i) {
      auto row = sample_row();
      row.clock_mhz = i;
      store.record(row);
      cache.put(cubin_key(i), sample_cubin(i, 50000));
      if (!ask(store) || !cache.get(cubin_key(i))) return 1;
    }
    if (store.list().size() != 30) return 2;
    if (warnings.texts.size() > 1 || cubin_warnings.texts.size() > 1) return 3;
    return cubin_warnings.texts.size() == 1 ? 0 : 4;
  }));
  CHECK(status == 0);
  // The next process, with room, finds no partial row.
  Warnings warnings;
  auto cache = open_cubins(directory / "cubins.db", warnings);
  for (int i = 0; i < 30; ++i) {
    const auto found = cache.get(cubin_key(i));
    CHECK((!found || same_cubin(*found, sample_cubin(i, 50000))));
  }
  CHECK(warnings.joined().empty());
}

TEST_CASE("C89: a full disk of 2 MiB; clear works on it", "[degrade]") {
  const TemporaryDirectory directory;
  if (::mount("none", directory.path().c_str(), "tmpfs", 0, "size=2m") != 0) {
    WARN("no right to mount a tmpfs: the file size limit test stands in");
    return;
  }
  {
    Warnings warnings;
    auto cache = open_cubins(directory / "cubins.db", warnings);
    for (int i = 0; i < 50; ++i) {
      cache.put(cubin_key(i), sample_cubin(i, 100000));
      CHECK(cache.get(cubin_key(i)));
    }
    CHECK(warnings.texts.size() == 1);
    write_file(directory / "filler", std::string(2 << 20, 'x'));
    cache.clear();
    CHECK(cache.size_bytes() == 0);
    std::filesystem::remove(directory / "filler");
    cache.put(cubin_key(1), sample_cubin(1, 100000));
    CHECK(cache.state() == StorageState::kFile);
    CHECK(warnings.texts.size() == 1);
  }
  Warnings warnings;
  CHECK(open_cubins(directory / "cubins.db", warnings).get(cubin_key(1)));
  CHECK(::umount(directory.path().c_str()) == 0);
}

TEST_CASE("A warning sink that throws changes nothing", "[degrade]") {
  ResultsStore store({.path = "/dev/null", .warn = [](const std::string&) { throw 1; }});
  store.record(sample_row());
  CHECK(ask(store));
}
