#include <dlfcn.h>

#include <fstream>

#include "runtime/compiler.hpp"
#include "runtime/elf_note.hpp"
#include "runtime/loader_cache.hpp"
#include "runtime/nvrtc_search.hpp"
#include "tests/runtime/error_matcher.hpp"
#include "tests/runtime/fake_nvrtc_handle.hpp"

namespace heddle {
namespace {

namespace fs = std::filesystem;

/// A search that sees nothing of this machine.
NvrtcSearch blind_search() {
  NvrtcSearch search;
  search.loader_cache = "/nonexistent/ld.so.cache";
  search.ask_loader = false;
  return search;
}

bool is_loaded(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

TEST_CASE("NVRTC from a folder says what it is, and its own builtins are loaded first") {
  const std::string builtins = fake_nvrtc() + "/libnvrtc-builtins.so.13.0";
  const auto nvrtc = Nvrtc::load(fake_nvrtc());
  CHECK(is_loaded(builtins));
  CHECK(nvrtc->major_version() == 13);
  CHECK(nvrtc->minor_version() == 0);
  CHECK(nvrtc->library_path() == fake_nvrtc() + "/libnvrtc.so.13");
  CHECK(nvrtc->build_id().size() == 40);
  CHECK(nvrtc->build_id() == file_build_id(nvrtc->library_path()));
  CHECK(nvrtc->identity() == nvrtc->build_id() + "+" + file_build_id(builtins).value());
  CHECK(nvrtc->supported_architectures() == std::vector<int>{75, 80, 86, 89, 90, 100, 103, 120});
}

TEST_CASE("NVRTC is found by file, by toolkit root, and under an odd path (C61)") {
  const TemporaryFolder folder("a b ключ it's \"q\" %d;$HOME");
  fs::create_directories(folder.path() / "lib64");
  const fs::path copy = folder.path() / "lib64" / "libnvrtc.so.13";
  fs::copy_file(fake_nvrtc() + "/libnvrtc.so.13", copy);
  CHECK(Nvrtc::load(copy.string())->library_path() == copy.string());
  CHECK(Nvrtc::load(folder.path().string())->library_path() == copy.string());
}

TEST_CASE("two builds of one version have different identities") {
  const auto usual = Nvrtc::load(fake_nvrtc());
  const auto other = Nvrtc::load(fake_nvrtc("13_other"));
  CHECK(usual->build_id() != other->build_id());
}

TEST_CASE("without a build id the file itself is the identity") {
  const auto nvrtc = Nvrtc::load(fake_nvrtc("13_no_id"));
  CHECK(nvrtc->build_id().empty());
  CHECK_THAT(nvrtc->identity(), Catch::Contains(nvrtc->library_path()));
  CHECK_THAT(nvrtc->identity(), Catch::StartsWith("13.0 "));
}

TEST_CASE("a named place without NVRTC is an error, never another NVRTC") {
  const TemporaryFolder folder;
  require_error(ErrorCode::kNvrtcMissing,
                {folder.path().string(), "pip install nvidia-cuda-nvrtc==13.0.*", "HEDDLE_NVRTC"},
                [&] { Nvrtc::load(folder.path().string()); });
  const std::string text_file = (folder.path() / "libnvrtc.so.13").string();
  std::ofstream(text_file) << "not a library\n";
  require_error(ErrorCode::kNvrtcMissing, {text_file, "not a shared library for this machine"},
                [&] { Nvrtc::load(text_file); });
  require_error(ErrorCode::kNvrtcMissing, {"/nonexistent/libnvrtc.so.13", "no such file"},
                [] { Nvrtc::load("/nonexistent/libnvrtc.so.13"); });
}

TEST_CASE("a search that finds nothing lists every place") {
  NvrtcSearch search = blind_search();
  search.toolkit_folders = {"/nonexistent/cuda"};
  require_error(ErrorCode::kNvrtcMissing,
                {"$HEDDLE_NVRTC: not set", "libnvrtc.so.13", "libnvrtc.so.12", "LD_LIBRARY_PATH",
                 "/nonexistent/ld.so.cache", "/nonexistent/cuda", "pip install"},
                [&] { load_nvrtc(search); });
}

TEST_CASE("the option wins over $HEDDLE_NVRTC, which wins over the search") {
  NvrtcSearch search = blind_search();
  search.library_path = {fake_nvrtc("13_other")};
  search.toolkit_folders = {fake_nvrtc("13_no_id")};
  CHECK(load_nvrtc(search)->library_path() == fake_nvrtc("13_other") + "/libnvrtc.so.13");
  search.environment = fake_nvrtc();
  CHECK(load_nvrtc(search)->library_path() == fake_nvrtc() + "/libnvrtc.so.13");
  search.option = fake_nvrtc("13_no_id");
  CHECK(load_nvrtc(search)->library_path() == fake_nvrtc("13_no_id") + "/libnvrtc.so.13");
}

TEST_CASE("an NVRTC that is too old is named, and passed over in a search") {
  const std::string old = fake_nvrtc("11") + "/libnvrtc.so.11";
  require_error(ErrorCode::kNvrtcMissing, {old, "is NVRTC 11.0", "12.0 or newer"},
                [&] { Nvrtc::load(old); });
  const TemporaryFolder folder;
  fs::copy_file(old, folder.path() / "libnvrtc.so.13");
  NvrtcSearch search = blind_search();
  search.library_path = {folder.path().string(), fake_nvrtc()};
  CHECK(load_nvrtc(search)->library_path() == fake_nvrtc() + "/libnvrtc.so.13");
}

TEST_CASE("a library that lacks an entry point is named with it") {
  const TemporaryFolder folder;
  const fs::path impostor = folder.path() / "libnvrtc.so.13";
  fs::copy_file(fake_nvrtc() + "/libnvrtc-builtins.so.13.0", impostor);
  require_error(ErrorCode::kNvrtcMissing, {impostor.string(), "nvrtcVersion"},
                [&] { Nvrtc::load(impostor.string()); });
}

TEST_CASE("a library cut short is no library") {
  const TemporaryFolder folder;
  const std::string source = fake_nvrtc() + "/libnvrtc.so.13";
  const std::string target = (folder.path() / "cut.so").string();
  for (const std::uintmax_t size : {0, 3, 63, 64, 100, 500}) {
    fs::copy_file(source, target, fs::copy_options::overwrite_existing);
    fs::resize_file(target, size);
    CHECK_FALSE(file_build_id(target));
  }
}

TEST_CASE("the loader's cache is read, and any damage to it survived") {
  const std::string real = "/etc/ld.so.cache";
  const auto paths = loader_cache_paths(real, "libc.so.6");
  if (paths.empty()) {
    WARN("this machine has no readable " << real);
    return;
  }
  CHECK(fs::exists(paths.front()));
  CHECK(loader_cache_paths(real, "libc.so.").empty());

  std::ifstream file(real, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  const TemporaryFolder folder;
  const std::string damaged = (folder.path() / "cache").string();
  for (const std::size_t size : {0, 19, 20, 47, 48, 60, 72, 1000, 5000}) {
    std::ofstream(damaged, std::ios::binary) << content.substr(0, size);
    CHECK(loader_cache_paths(damaged, "libc.so.6").empty());
  }
  std::string wild = content;
  for (std::size_t at = 20; at + 1 < wild.size(); at += 7) wild[at] = '\xff';
  std::ofstream(damaged, std::ios::binary) << wild;
  CHECK(loader_cache_paths(damaged, "libc.so.6").empty());
}

}  // namespace
}  // namespace heddle
