#include "runtime/host/host_compiler.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "generator/hash.hpp"
#include "generator/template_library.hpp"
#include "runtime/host/block_run.hpp"
#include "runtime/host/embedded_headers.hpp"
#include "runtime/host/process.hpp"

namespace heddle {
namespace {

namespace fs = std::filesystem;

bool works(const std::string& compiler) {
  return run_process({compiler, "--version"}).exit_code == 0;
}

std::string find_compiler(const std::string& asked) {
  const char* variable = std::getenv("HEDDLE_HOST_CXX");
  const std::string wanted = !asked.empty() ? asked : variable != nullptr ? variable : "";
  if (!wanted.empty()) {
    if (works(wanted)) return wanted;
    throw Error(ErrorCode::kHostCompilerMissing, "host_compiler",
                fmt::format("host compiler: '{}' does not run; name a C++20 compiler in "
                            "HEDDLE_HOST_CXX (Debian: apt-get install g++)",
                            wanted));
  }
  for (const char* name : {"clang++", "g++", "c++"}) {
    if (works(name)) return name;
  }
  throw Error(
      ErrorCode::kHostCompilerMissing, "host_compiler",
      "host compiler: none of clang++, g++, c++ is on PATH; running a kernel on the CPU needs "
      "one (Debian: apt-get install g++), or name it in HEDDLE_HOST_CXX");
}

void write_file(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    throw Error(
        ErrorCode::kIo, "TMPDIR",
        fmt::format("cannot write {}: free some space there, or set TMPDIR", path.string()));
  }
}

std::vector<std::string> instrumentation_flags(Instrumentation instrumentation) {
  if (instrumentation == Instrumentation::kSanitizers) {
    return {"-fsanitize=address,undefined", "-fno-sanitize-recover=undefined",
            "-fno-omit-frame-pointer"};
  }
  return {"-fsanitize=thread,bounds,integer-divide-by-zero", "-DHEDDLE_HOST_KERNEL"};
}

std::vector<std::string> compile_command(const std::string& compiler, const fs::path& folder,
                                         Instrumentation instrumentation) {
  std::vector<std::string> command{compiler,
                                   "-x",
                                   "c++",
                                   "-std=c++20",
                                   "-O0",
                                   "-g1",
                                   "-gdwarf-4",
                                   "-fPIC",
                                   "-fvisibility=hidden",
                                   "-fno-exceptions",
                                   "-fno-rtti",
                                   "-ffp-contract=off",
                                   "-ftrivial-auto-var-init=pattern",
                                   "-fno-strict-aliasing",
                                   "-w"};
  for (std::string& flag : instrumentation_flags(instrumentation)) command.push_back(flag);
  for (const char* include : {"host", "templates"}) {
    command.push_back("-I");
    command.push_back((folder / include).string());
  }
  for (const char* argument : {"-include", "prelude.cuh", "-c", "-o"}) command.push_back(argument);
  command.push_back((folder / "kernel.o").string());
  command.push_back((folder / "kernel.cu").string());
  return command;
}

void require_success(const ProcessResult& result, const KernelSource& source,
                     const std::string& compiler) {
  if (result.exit_code == 0) return;
  throw Error(ErrorCode::kCompileFailed,
              fmt::format("{} refuses {}:\n{}", compiler, source.entry, result.output));
}

/// "part/softmax.cuh:57" of "/tmp/…/templates/part/softmax.cuh:57 (discriminator 2)".
std::string shorten(std::string line, const std::string& folder) {
  line = line.substr(0, line.find(" ("));
  for (const char* root : {"/host/", "/templates/", "/"}) {
    const std::string prefix = folder + root;
    const auto at = line.find(prefix);
    if (at == 0) return line.substr(prefix.size());
  }
  return line;
}

}  // namespace

HostKernel::HostKernel(std::unique_ptr<const KernelFolder> folder, const std::string& entry)
    : folder_(std::move(folder)) {
  library_ = dlopen((folder_->path() + "/kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    throw Error(ErrorCode::kCompileFailed,
                fmt::format("the compiled kernel does not load: {}", dlerror()));
  }
  entry_ = reinterpret_cast<Entry>(dlsym(library_, entry.c_str()));
  enter_ =
      reinterpret_cast<void (*)(const host::ThreadState*)>(dlsym(library_, "heddle_host_enter"));
  const auto bind =
      reinterpret_cast<void (*)(const host::HostCalls*)>(dlsym(library_, "heddle_host_bind"));
  if (entry_ == nullptr || enter_ == nullptr || bind == nullptr) {
    throw Error(ErrorCode::kInternal, fmt::format("the compiled kernel lacks {}", entry));
  }
  bind(&BlockRun::calls());
}

HostKernel::~HostKernel() {
  if (library_ != nullptr) dlclose(library_);
}

void* HostKernel::symbol(const std::string& name) const {
  return dlsym(library_, name.c_str());
}

std::string HostKernel::locate(const void* where) const {
  Dl_info info{};
  if (where == nullptr || dladdr(where, &info) == 0 || info.dli_fbase == nullptr) return "";
  // A return address is that of the next instruction.
  const auto offset =
      static_cast<const char*>(where) - static_cast<const char*>(info.dli_fbase) - 1;
  const ProcessResult result = run_process(
      {"addr2line", "-i", "-e", folder_->path() + "/kernel.so", fmt::format("{:#x}", offset)});
  if (result.exit_code != 0) return "";
  std::istringstream lines(result.output);
  std::string text;
  std::string line;
  while (std::getline(lines, line)) {
    line = shorten(line, folder_->path());
    const bool twin = line.starts_with("instruction") || line.starts_with("host_") ||
                      line.starts_with("prelude") || line.starts_with("?");
    if (!twin) text += (text.empty() ? "" : " < ") + line;
  }
  return text;
}

HostCompiler::HostCompiler(HostCompilerOptions options)
    : compiler_(find_compiler(options.compiler)), instrumentation_(options.instrumentation) {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  if (!error) remove_abandoned_folders(base);
}

HostCompiler::~HostCompiler() = default;

std::shared_ptr<const HostKernel> HostCompiler::compile(const KernelSource& source) {
  const std::string key = source_hash(source).hex();
  {
    std::lock_guard lock(mutex_);
    if (const auto found = kernels_.find(key); found != kernels_.end()) return found->second;
  }
  auto kernel = build(source);  // two threads may build the same one: harmless, and rare
  std::lock_guard lock(mutex_);
  return kernels_.emplace(key, std::move(kernel)).first->second;
}

std::shared_ptr<const HostKernel> HostCompiler::build(const KernelSource& source) {
  auto folder = std::make_unique<const KernelFolder>();
  const fs::path path(folder->path());
  for (const EmbeddedTemplate& header : embedded_host_headers()) {
    write_file(path / "host" / header.name, header.text);
  }
  // What the twins share with the device; the kernel's own headers come over them.
  for (const EmbeddedTemplate& header : embedded_templates()) {
    if (header.name.find('/') == std::string_view::npos) {
      write_file(path / "templates" / header.name, header.text);
    }
  }
  for (const SourceFile& header : source.headers) {
    write_file(path / "templates" / header.name, header.text);
  }
  write_file(path / "kernel.cu", source.main.text);
  require_success(run_process(compile_command(compiler_, path, instrumentation_)), source,
                  compiler_);
  // Linked apart and without the flag: with it the sanitizer's library would come along.
  std::vector<std::string> link{compiler_, "-shared", "-o", (path / "kernel.so").string(),
                                (path / "kernel.o").string()};
  if (instrumentation_ == Instrumentation::kSanitizers) {
    link.push_back("-fsanitize=address,undefined");
  }
  require_success(run_process(link), source, compiler_);
  return std::make_shared<HostKernel>(std::move(folder), source.entry);
}

}  // namespace heddle
