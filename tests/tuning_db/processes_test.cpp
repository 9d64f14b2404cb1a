// Several processes on one file: at creation, under load, locked, killed, stopped.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <SQLiteCpp/SQLiteCpp.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

#include "tests/tuning_db/support.hpp"

using namespace heddle;
using namespace heddle::testing_db;
using Clock = std::chrono::steady_clock;

namespace {

bool any_config(const KernelConfig&) {
  return true;
}

/// A child that holds a write transaction until it is killed.
class LockHolder {
 public:
  LockHolder(const std::string& path, const std::string& begin) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    child_ = start_child([&] {
      SQLite::Database database(path, SQLite::OPEN_READWRITE, 5000);
      database.exec(begin);
      if (::write(ready[1], "x", 1) != 1) return 1;
      ::pause();
      return 0;
    });
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~LockHolder() { release(); }
  void stop() { ::kill(child_, SIGSTOP); }
  void release() {
    if (child_ == 0) return;
    ::kill(child_, SIGKILL);
    wait_for(child_);
    child_ = 0;
  }

 private:
  pid_t child_ = 0;
};

int integrity(const std::string& path) {
  return query_text(path, "PRAGMA integrity_check") == "ok" ? 0 : 1;
}

}  // namespace

TEST_CASE("C05: 16 processes on an empty cache", "[processes]") {
  for (int round = 0; round < 8; ++round) {
    const TemporaryDirectory directory;
    const std::string path = directory / "not/yet/cubins.db";
    const int problems = round % 2 == 0 ? 1 : 4;
    const int failed = run_together(16, [&](int process) {
      Warnings warnings;
      CubinStore store({.path = path, .busy_timeout_ms = 20000, .warn = warnings.sink()});
      const int problem = process % problems;
      const auto before = store.get(cubin_key(problem));
      if (before && !same_cubin(*before, sample_cubin(problem, 60000))) return 1;
      store.put(cubin_key(problem), sample_cubin(problem, 60000));
      const auto after = store.get(cubin_key(problem));
      if (!after || !same_cubin(*after, sample_cubin(problem, 60000))) return 2;
      if (!warnings.texts.empty()) std::fprintf(stderr, "%s", warnings.joined().c_str());
      return warnings.texts.empty() && store.state() == StorageState::kFile ? 0 : 3;
    });
    REQUIRE(failed == 0);
    REQUIRE(integrity(path) == 0);
    REQUIRE(query_text(path, "SELECT count(*) FROM cubins") == std::to_string(problems));
    REQUIRE(query_text(path, "PRAGMA journal_mode") == "wal");
  }
}

TEST_CASE("C22: 8 processes, 200 put and get each, from creation on", "[processes]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "cubins.db";
  const auto start = Clock::now();  // the others' time counts
  const int failed = run_together(8, [&](int process) {
    Warnings warnings;
    CubinStore store({.path = path, .busy_timeout_ms = 20000, .warn = warnings.sink()});
    for (int i = 0; i < 200; ++i) {
      const int key = process * 1000 + i;
      store.put(cubin_key(key), sample_cubin(key));
      const auto found = store.get(cubin_key(key));
      if (!found || !same_cubin(*found, sample_cubin(key))) return 1;
      store.get(cubin_key((process + 1) % 8 * 1000 + i));
    }
    return warnings.texts.empty() && store.state() == StorageState::kFile ? 0 : 2;
  });
  CHECK(failed == 0);
  CHECK(query_text(path, "SELECT count(*) FROM cubins") == "1600");
  CHECK(integrity(path) == 0);
  INFO("seconds " << seconds_since(start));
  CHECK(seconds_since(start) < 60);
}

TEST_CASE("C22: 8 processes record results from creation on", "[processes]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "results.db";
  const int failed = run_together(8, [&](int process) {
    Warnings warnings;
    ResultsStore store({.path = path,
                        .busy_timeout_ms = 20000,
                        .warn = warnings.sink(),
                        .shipped = nothing_shipped()});
    for (int i = 0; i < 10; ++i) {
      auto row = sample_row();
      row.clock_mhz = process * 1000 + i;
      store.record(row);
      if (!store.find(row.variant, row.bucket, row.device, any_config)) return 1;
    }
    return warnings.texts.empty() && store.unwritten_count() == 0 ? 0 : 2;
  });
  CHECK(failed == 0);
  Warnings warnings;
  CHECK(open_results(path, warnings).list().size() == 80);
}

TEST_CASE("C22: a file that another process has locked for long", "[processes]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "results.db";
  Warnings none;
  open_results(path, none).record(sample_row());
  LockHolder holder(path, "BEGIN IMMEDIATE; DELETE FROM measurements WHERE id < 0");
  Warnings warnings;
  const auto row = sample_row();
  {
    const Stopwatch watch;
    auto store = open_results(path, warnings);  // busy timeout 0.5 s
    CHECK(store.find(row.variant, row.bucket, row.device, any_config));
    CHECK(watch.seconds() < 0.4);  // readers do not wait at all
    for (int i = 0; i < 50; ++i) {
      auto another = row;
      another.clock_mhz = i;
      store.record(another);
    }
    CHECK(watch.seconds() > 0.4);
    CHECK(watch.seconds() < 2);  // waited once, not fifty times
    CHECK(store.list().size() == 51);
    CHECK(store.unwritten_count() == 50);
    REQUIRE(warnings.texts.size() == 1);
    CHECK_THAT(warnings.texts[0], Catch::Contains("locked"));
    holder.release();
  }
  // What waited in memory was written once the lock was gone.
  CHECK(open_results(path, none).list().size() == 51);
}

TEST_CASE("C22: locked exclusively, or from before its creation", "[processes]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "cubins.db";
  Warnings none;
  const bool created = GENERATE(true, false);
  if (created) {
    open_cubins(path, none).put(cubin_key(1), sample_cubin(1));
  } else {
    write_file(path, "");
  }
  LockHolder holder(path, created ? "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;"
                                    "DELETE FROM cubins WHERE bytes < 0"
                                  : "BEGIN EXCLUSIVE");
  Warnings warnings;
  const Stopwatch watch;
  auto store = open_cubins(path, warnings);
  store.put(cubin_key(2), sample_cubin(2));
  CHECK(store.get(cubin_key(2)));
  CHECK(watch.seconds() < 3);
  CHECK(warnings.texts.size() == 1);
  holder.release();
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // it looks again once a second
  store.put(cubin_key(3), sample_cubin(3));
  CHECK(store.state() == StorageState::kFile);
  CHECK(warnings.texts.size() == 1);
  CHECK(open_cubins(path, none).get(cubin_key(3)));
}

TEST_CASE("C64, C70: writers killed at random moments leave a sound file", "[processes]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "results.db";
  const unsigned seed = static_cast<unsigned>(std::time(nullptr));
  INFO("seed " << seed);
  std::srand(seed);
  for (int round = 0; round < 20; ++round) {
    const pid_t child = start_child([&] {
      Warnings warnings;
      auto store = open_results(path, warnings);
      auto row = sample_row();
      for (int i = 0;; ++i) {
        row.clock_mhz = i;
        store.record(row);
      }
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + std::rand() % 60));
    ::kill(child, SIGKILL);
    wait_for(child);
    const Stopwatch watch;
    Warnings warnings;
    auto store = open_results(path, warnings);
    auto row = sample_row();
    row.samples = 1000 + round;
    store.record(row);
    REQUIRE(watch.seconds() < 1);
    REQUIRE(warnings.joined().empty());
    REQUIRE(store.unwritten_count() == 0);
    REQUIRE(integrity(path) == 0);
  }
}

TEST_CASE("C64: a stopped holder costs a bounded wait", "[processes]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "cubins.db";
  Warnings none;
  open_cubins(path, none).put(cubin_key(1), sample_cubin(1));
  LockHolder holder(path, "BEGIN IMMEDIATE; UPDATE cubins SET last_used = 0");
  holder.stop();
  Warnings warnings;
  const Stopwatch watch;
  auto store = open_cubins(path, warnings);
  CHECK(store.get(cubin_key(1)));
  store.put(cubin_key(2), sample_cubin(2));
  CHECK(store.get(cubin_key(2)));
  CHECK(watch.seconds() < 2);
  CHECK(warnings.texts.size() == 1);
}

TEST_CASE("C37: 12 processes meet a damaged file: moved aside once, nothing lost", "[processes]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "cubins.db";
  write_file(path, "not a database at all, but some text");
  const int failed = run_together(12, [&](int process) {
    Warnings warnings;
    CubinStore store({.path = path, .busy_timeout_ms = 20000, .warn = warnings.sink()});
    store.put(cubin_key(process), sample_cubin(process));
    return store.state() == StorageState::kFile && warnings.texts.size() <= 1 ? 0 : 1;
  });
  CHECK(failed == 0);
  CHECK(query_text(path, "SELECT count(*) FROM cubins") == "12");
  int moved = 0;
  for (const auto& name : files_in(directory.path())) moved += name.find(".corrupt-") < name.size();
  CHECK(moved == 1);
}
