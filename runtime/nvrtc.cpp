#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <chrono>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "runtime/compiler.hpp"
#include "runtime/elf_note.hpp"
#include "runtime/nvrtc_api.hpp"
#include "runtime/nvrtc_search.hpp"

namespace heddle {

const char* NvrtcApi::bind(void* library) {
  const char* missing = "";
  const auto bind_one = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr && *missing == '\0') missing = name;
  };
  bind_one(version, "nvrtcVersion");
  bind_one(error_string, "nvrtcGetErrorString");
  bind_one(architecture_count, "nvrtcGetNumSupportedArchs");
  bind_one(architectures, "nvrtcGetSupportedArchs");
  bind_one(create, "nvrtcCreateProgram");
  bind_one(destroy, "nvrtcDestroyProgram");
  bind_one(compile, "nvrtcCompileProgram");
  bind_one(log_size, "nvrtcGetProgramLogSize");
  bind_one(log, "nvrtcGetProgramLog");
  bind_one(ptx_size, "nvrtcGetPTXSize");
  bind_one(ptx, "nvrtcGetPTX");
  bind_one(cubin_size, "nvrtcGetCUBINSize");
  bind_one(cubin, "nvrtcGetCUBIN");
  return missing;
}

namespace {

constexpr int kOldestMajor = 12;  // before it: no sm_90a, other defaults

/// A program object that is destroyed on every path.
class Program {
 public:
  Program(const NvrtcApi& api, const KernelSource& source) : api_(api) {
    std::vector<const char*> texts;
    std::vector<const char*> names;
    for (const SourceFile& header : source.headers) {
      texts.push_back(header.text.c_str());
      names.push_back(header.name.c_str());
    }
    status_ = api_.create(&handle_, source.main.text.c_str(), source.main.name.c_str(),
                          static_cast<int>(texts.size()), texts.data(), names.data());
  }
  ~Program() {
    if (handle_ != nullptr) api_.destroy(&handle_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  NvrtcResult status() const { return status_; }
  NvrtcProgram handle() const { return handle_; }

  /// One of the results that NVRTC hands out as a size and a copy. Empty where there is none.
  template <class Container>
  NvrtcResult fetch(NvrtcResult (*size)(NvrtcProgram, std::size_t*),
                    NvrtcResult (*copy)(NvrtcProgram, char*), Container& result) const {
    std::size_t bytes = 0;
    const NvrtcResult status = size(handle_, &bytes);
    if (status != kNvrtcSuccess || bytes == 0) return status;
    result.resize(bytes);
    const NvrtcResult copied = copy(handle_, result.data());
    if (copied != kNvrtcSuccess) result.clear();
    return copied;
  }

 private:
  const NvrtcApi& api_;
  NvrtcProgram handle_ = nullptr;
  NvrtcResult status_ = kNvrtcSuccess;
};

/// NVRTC counts the terminating zero as part of a text.
void drop_trailing_zeros(std::string& text) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
}

class LoadedNvrtc final : public Nvrtc {
 public:
  NvrtcApi api;
  int major = 0;
  int minor = 0;
  std::string path;
  std::string build;
  std::string id;
  std::vector<int> architectures;

  int major_version() const override { return major; }
  int minor_version() const override { return minor; }
  const std::string& library_path() const override { return path; }
  const std::string& build_id() const override { return build; }
  const std::string& identity() const override { return id; }
  const std::vector<int>& supported_architectures() const override { return architectures; }

  Output compile(const KernelSource& source,
                 const std::vector<std::string>& options) const override {
    const auto start = std::chrono::steady_clock::now();
    Output output = run(source, options);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    output.seconds = elapsed.count();
    output.status_name = api.error_string(output.status);
    return output;
  }

 private:
  /// From 12.9 on NVRTC starts the driver to keep results in its compute cache. Ours is keyed by
  /// more, thousands of a tuning's kernels would push out everybody else's, and times would be of
  /// that cache.
  bool has_own_cache() const { return std::pair(major, minor) >= std::pair(12, 9); }

  Output run(const KernelSource& source, const std::vector<std::string>& options) const {
    Output output;
    const Program program(api, source);
    output.status = program.status();
    if (output.status != kNvrtcSuccess) {
      output.stage = "nvrtcCreateProgram";
      return output;
    }
    std::vector<const char*> arguments;  // an array: no quoting, whatever an option holds
    if (has_own_cache()) arguments.push_back("--no-cache");
    for (const std::string& option : options) arguments.push_back(option.c_str());
    output.stage = "nvrtcCompileProgram";
    output.status =
        api.compile(program.handle(), static_cast<int>(arguments.size()), arguments.data());
    program.fetch(api.log_size, api.log, output.log);
    drop_trailing_zeros(output.log);
    if (output.status != kNvrtcSuccess) return output;
    program.fetch(api.ptx_size, api.ptx, output.ptx);
    drop_trailing_zeros(output.ptx);
    output.stage = "nvrtcGetCUBIN";
    output.status = program.fetch(api.cubin_size, api.cubin, output.cubin);
    return output;
  }
};

std::string loader_error() {
  const char* text = dlerror();
  return text == nullptr ? "unknown loader error" : text;
}

/// Stands in for the build id of a library that has none.
std::string file_identity(const LoadedNvrtc& nvrtc) {
  struct stat status {};
  stat(nvrtc.path.c_str(), &status);
  return fmt::format("{}.{} {} {} {}", nvrtc.major, nvrtc.minor, nvrtc.path,
                     static_cast<long long>(status.st_size),
                     static_cast<long long>(status.st_mtime));
}

/// Binds an opened library; the reason as text where it cannot be used. The handle is kept for
/// good: NVRTC leaves threads and exit handlers behind that a dlclose would pull the code away
/// from.
std::variant<std::shared_ptr<LoadedNvrtc>, std::string> bind_library(void* library) {
  auto nvrtc = std::make_shared<LoadedNvrtc>();
  const char* missing = nvrtc->api.bind(library);
  if (*missing != '\0') return fmt::format("lacks the function {}", missing);
  const NvrtcApi& api = nvrtc->api;
  if (api.version(&nvrtc->major, &nvrtc->minor) != kNvrtcSuccess) return "nvrtcVersion failed";
  if (nvrtc->major < kOldestMajor) {
    return fmt::format("is NVRTC {}.{}; heddle needs {}.0 or newer", nvrtc->major, nvrtc->minor,
                       kOldestMajor);
  }
  int count = 0;
  if (api.architecture_count(&count) != kNvrtcSuccess || count < 0) {
    return "nvrtcGetNumSupportedArchs failed";
  }
  nvrtc->architectures.resize(static_cast<std::size_t>(count));
  if (api.architectures(nvrtc->architectures.data()) != kNvrtcSuccess) {
    return "nvrtcGetSupportedArchs failed";
  }
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0) nvrtc->path = map->l_name;
  nvrtc->build = loaded_build_id(reinterpret_cast<const void*>(api.version));
  nvrtc->id = nvrtc->build.empty() ? file_identity(*nvrtc) : nvrtc->build;
  return nvrtc;
}

std::variant<std::shared_ptr<LoadedNvrtc>, std::string> open_file(const NvrtcFile& file) {
  // libnvrtc asks for its builtins by bare soname and has no RUNPATH: unless the right ones are
  // loaded already, the loader would pick whichever it finds first.
  for (const std::string& builtins : file.builtins) {
    if (dlopen(builtins.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) return loader_error();
  }
  void* library = dlopen(file.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return loader_error();
  auto bound = bind_library(library);
  if (auto* nvrtc = std::get_if<std::shared_ptr<LoadedNvrtc>>(&bound)) {
    // The file may have been replaced since this process loaded it: then what is loaded counts.
    const bool same = file.identity.rfind((*nvrtc)->build, 0) == 0;
    if (same && !file.identity.empty()) (*nvrtc)->id = file.identity;
  }
  return bound;
}

}  // namespace

std::shared_ptr<const Nvrtc> Nvrtc::load(const std::string& path) {
  return load_nvrtc(NvrtcSearch::from_environment(path));
}

std::shared_ptr<const Nvrtc> load_nvrtc(const NvrtcSearch& search) {
  NvrtcCandidates candidates = find_nvrtc(search);
  for (const NvrtcFile& file : candidates.files) {
    auto opened = open_file(file);
    if (auto* nvrtc = std::get_if<std::shared_ptr<LoadedNvrtc>>(&opened)) return *nvrtc;
    candidates.tried.push_back(file.path + ": " + std::get<std::string>(opened));
  }
  // A loader without such a cache, or with a RUNPATH of the program's own, may still know one.
  const bool named = !search.option.empty() || !search.environment.empty();
  for (const char* soname : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
    if (named || !search.ask_loader) break;
    void* library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      candidates.tried.push_back(fmt::format("dlopen(\"{}\"): {}", soname, loader_error()));
      continue;
    }
    auto bound = bind_library(library);
    if (auto* nvrtc = std::get_if<std::shared_ptr<LoadedNvrtc>>(&bound)) return *nvrtc;
    candidates.tried.push_back(fmt::format("{}: {}", soname, std::get<std::string>(bound)));
  }
  throw nvrtc_missing(candidates);
}

}  // namespace heddle
