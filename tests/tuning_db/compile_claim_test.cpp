// Processes that want the same kernel of a cold cache.
#include "tuning_db/compile_claim.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

#include "tests/tuning_db/support.hpp"

using namespace heddle;
using namespace heddle::testing_db;
using Clock = std::chrono::steady_clock;

TEST_CASE("C05: of 16 processes that want one kernel one makes it, the others take it",
          "[processes]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "cubins.db";
  const std::string made = directory / "made";
  const int failed = run_together(16, [&](int process) {
    Warnings warnings;
    CubinStore store({.path = path, .busy_timeout_ms = 20000, .warn = warnings.sink()});
    const int kernel = process % 2;
    if (store.get(cubin_key(kernel))) return 0;  // it came late
    const CompileClaim claim(path, cubin_key(kernel), std::chrono::seconds(60));
    if (store.get(cubin_key(kernel))) return 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // "compiling"
    store.put(cubin_key(kernel), sample_cubin(kernel));
    const int file = ::open(made.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
    return ::write(file, "x", 1) == 1 ? 0 : 2;
  });
  CHECK(failed == 0);
  CHECK(std::filesystem::file_size(made) == 2);
}

TEST_CASE("A claim ends with its process, and is not waited for without end", "[processes]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "cubins.db";
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = start_child([&] {
    const CompileClaim claim(path, cubin_key(1), std::chrono::seconds(1));
    if (::write(ready[1], "x", 1) != 1) return 1;
    ::pause();
    return 0;
  });
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  const auto start = Clock::now();
  CHECK_FALSE(CompileClaim(path, cubin_key(2), std::chrono::seconds(9)).had_to_wait());
  CHECK(CompileClaim(path, cubin_key(1), std::chrono::milliseconds(200)).had_to_wait());
  CHECK(seconds_since(start) >= 0.2);
  CHECK(seconds_since(start) < 5);
  ::kill(child, SIGKILL);
  wait_for(child);
  CHECK_FALSE(CompileClaim(path, cubin_key(1), std::chrono::seconds(9)).had_to_wait());
  // Where there can be none, nobody waits and nothing is thrown.
  CHECK_FALSE(CompileClaim("", cubin_key(1), std::chrono::seconds(9)).had_to_wait());
  CHECK_FALSE(
      CompileClaim("/proc/no/cubins.db", cubin_key(1), std::chrono::seconds(9)).had_to_wait());
  ::close(ready[0]);
  ::close(ready[1]);
}
