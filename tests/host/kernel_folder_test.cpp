// The temporary folders of kernels compiled for the CPU.
#include "runtime/host/kernel_folder.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>

#include "tests/runtime/temporary_folder.hpp"

namespace heddle {
namespace {

namespace fs = std::filesystem;

/// $TMPDIR until the test ends.
struct Base {
  Base() { setenv("TMPDIR", folder.path().c_str(), 1); }
  ~Base() { unsetenv("TMPDIR"); }
  TemporaryFolder folder;
};

void make_old(const fs::path& path) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
}

fs::path make_folder(const fs::path& path) {
  fs::create_directories(path / "host");
  make_old(path);
  return path;
}

TEST_CASE("a kernel's folder goes with it, with what is in it") {
  const Base base;
  std::string path;
  {
    const KernelFolder folder;
    path = folder.path();
    CHECK(fs::path(path).parent_path() == base.folder.path());
    fs::create_directories(path + "/host");
  }
  CHECK_FALSE(path.empty());
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE("folders of interrupted runs are removed, those in use, young or of others are not") {
  const Base base;
  const auto abandoned = make_folder(base.folder.path() / "heddle-host-Aa1234");
  const auto young = make_folder(base.folder.path() / "heddle-host-Bb1234");
  fs::last_write_time(young, fs::file_time_type::clock::now());
  const auto other = make_folder(base.folder.path() / "other-host-Cc1234");
  const auto linked = base.folder.path() / "heddle-host-Dd1234";
  fs::create_directory_symlink(other, linked);
  const KernelFolder in_use;
  make_old(in_use.path());
  remove_abandoned_folders(base.folder.path());
  CHECK_FALSE(fs::exists(abandoned));
  CHECK(fs::exists(young));
  CHECK(fs::exists(other / "host"));
  CHECK(fs::is_symlink(linked));
  CHECK(fs::exists(in_use.path()));
}

TEST_CASE("a base folder that is not there has nothing to remove") {
  remove_abandoned_folders("/nonexistent/heddle");
  const Base base;
  setenv("TMPDIR", "/nonexistent/heddle", 1);
  CHECK_THROWS(KernelFolder());
}

}  // namespace
}  // namespace heddle
