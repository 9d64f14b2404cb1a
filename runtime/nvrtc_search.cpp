#include "runtime/nvrtc_search.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "runtime/elf_note.hpp"
#include "runtime/loader_cache.hpp"

namespace heddle {

namespace fs = std::filesystem;

const char* const kNvrtcRemedy =
    "Install the CUDA toolkit's NVRTC package, or `pip install nvidia-cuda-nvrtc==13.0.*` and set "
    "HEDDLE_NVRTC to its lib folder (scripts/fetch_nvrtc.sh fetches it and prints that folder).";

namespace {

constexpr std::array<std::string_view, 2> kSonames = {"libnvrtc.so.13", "libnvrtc.so.12"};
constexpr std::array<std::string_view, 3> kFolderNames = {"libnvrtc.so.13", "libnvrtc.so.12",
                                                          "libnvrtc.so"};
constexpr std::string_view kBuiltinsPrefix = "libnvrtc-builtins.so.";

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::vector<std::string> builtins_in(const fs::path& folder) {
  std::vector<std::string> found;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    if (name.compare(0, kBuiltinsPrefix.size(), kBuiltinsPrefix) == 0) {
      found.push_back(entry.path().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Adds the library, or why it is none.
void consider(NvrtcCandidates& candidates, const fs::path& place) {
  std::error_code failed;
  const std::string path = fs::absolute(place, failed).string();
  if (!is_there(path)) {
    candidates.tried.push_back(path + ": no such file");
    return;
  }
  const auto file = describe_nvrtc(path);
  if (!file) {
    candidates.tried.push_back(path + ": not a shared library for this machine");
    return;
  }
  const auto same = [&](const NvrtcFile& known) { return known.path == file->path; };
  if (std::none_of(candidates.files.begin(), candidates.files.end(), same)) {
    candidates.files.push_back(*file);
  }
}

/// A folder as people name it: the one that holds the library, or the toolkit's root.
void consider_folder(NvrtcCandidates& candidates, const fs::path& folder) {
  for (const char* below : {"", "lib64", "lib"}) {
    for (const std::string_view name : kFolderNames) {
      const fs::path path = folder / below / name;
      if (is_there(path)) return consider(candidates, path);
    }
  }
  candidates.tried.push_back(folder.string() + ": no libnvrtc.so.13, .12 or libnvrtc.so in it");
}

/// A place the user named: it, or nothing; never quietly another NVRTC.
void consider_named(NvrtcCandidates& candidates, const std::string& path) {
  std::error_code failed;
  if (fs::is_directory(path, failed)) {
    return consider_folder(candidates, fs::absolute(path, failed));
  }
  consider(candidates, path);
}

/// What this process has loaded already, say PyTorch's.
void consider_loaded(NvrtcCandidates& candidates, std::string_view soname) {
  void* handle = dlopen(std::string(soname).c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return;
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) consider(candidates, map->l_name);
  dlclose(handle);  // only undoes the reference that RTLD_NOLOAD took
}

void consider_soname(NvrtcCandidates& candidates, const NvrtcSearch& search,
                     std::string_view soname) {
  if (search.ask_loader) consider_loaded(candidates, soname);
  for (const std::string& folder : search.library_path) {
    const fs::path path = fs::path(folder) / soname;
    if (is_there(path)) consider(candidates, path);
  }
  const auto cached = loader_cache_paths(search.loader_cache, soname);
  for (const std::string& path : cached) consider(candidates, path);
  candidates.tried.push_back(std::string(soname) + ": " +
                             (cached.empty() ? "not" : "only as above") +
                             " among the libraries of LD_LIBRARY_PATH and " + search.loader_cache);
}

std::string environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> split_folders(const std::string& text) {
  std::vector<std::string> folders;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    if (end > begin) folders.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return folders;
}

/// /usr/local/cuda first, then the versioned ones, newest name first.
std::vector<std::string> usual_toolkits() {
  std::vector<std::string> versioned;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator("/usr/local", failed)) {
    const std::string name = entry.path().filename().string();
    if (name.compare(0, 5, "cuda-") == 0) versioned.push_back(entry.path().string());
  }
  std::sort(versioned.rbegin(), versioned.rend());
  std::vector<std::string> folders = {"/usr/local/cuda"};
  folders.insert(folders.end(), versioned.begin(), versioned.end());
  folders.insert(folders.end(), {"/opt/cuda", "/usr/lib/x86_64-linux-gnu",
                                 "/usr/lib/aarch64-linux-gnu", "/usr/lib64"});
  return folders;
}

}  // namespace

NvrtcSearch NvrtcSearch::from_environment(std::string option) {
  NvrtcSearch search;
  search.option = std::move(option);
  search.environment = environment_value("HEDDLE_NVRTC");
  search.library_path = split_folders(environment_value("LD_LIBRARY_PATH"));
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    const std::string folder = environment_value(name);
    if (!folder.empty()) search.toolkit_folders.push_back(folder);
  }
  const auto usual = usual_toolkits();
  search.toolkit_folders.insert(search.toolkit_folders.end(), usual.begin(), usual.end());
  return search;
}

std::optional<NvrtcFile> describe_nvrtc(const std::string& path) {
  const auto build_id = file_build_id(path);
  if (!build_id) return std::nullopt;
  NvrtcFile file{path, builtins_in(fs::path(path).parent_path()), *build_id};
  if (file.builtins.empty()) {  // a lone symbolic link to the library elsewhere
    std::error_code failed;
    file.builtins = builtins_in(fs::canonical(path, failed).parent_path());
  }
  for (const std::string& builtins : file.builtins) {
    if (!file.identity.empty()) file.identity += "+" + file_build_id(builtins).value_or("");
  }
  return file;
}

NvrtcCandidates find_nvrtc(const NvrtcSearch& search) {
  NvrtcCandidates candidates;
  if (!search.option.empty()) {
    consider_named(candidates, search.option);
    return candidates;
  }
  if (!search.environment.empty()) {
    consider_named(candidates, search.environment);
    return candidates;
  }
  candidates.tried.push_back("$HEDDLE_NVRTC: not set");
  for (const std::string_view soname : kSonames) consider_soname(candidates, search, soname);
  for (const std::string& folder : search.toolkit_folders) consider_folder(candidates, folder);
  return candidates;
}

Error nvrtc_missing(const NvrtcCandidates& candidates) {
  std::string message = "no usable NVRTC (libnvrtc) found. Tried:";
  for (const std::string& place : candidates.tried) message += "\n  " + place;
  return Error(ErrorCode::kNvrtcMissing, "nvrtc", message + "\n" + kNvrtcRemedy);
}

}  // namespace heddle
