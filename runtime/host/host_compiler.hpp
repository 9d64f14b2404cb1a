#pragma once
// Emitted kernels to shared objects of this machine, by its C++ compiler.

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "generator/emit.hpp"
#include "runtime/host/device/host_calls.cuh"
#include "runtime/host/kernel_folder.hpp"
#include "templates/mapped_parameters.cuh"

namespace heddle {

/// What the compiler adds to the kernel.
enum class Instrumentation {
  kChecks,      ///< every access reported to the engine: bounds, races, copies in flight
  kSanitizers,  ///< address and undefined-behaviour sanitizers instead; the program needs them too
};

struct HostCompilerOptions {
  /// Path or name; empty = $HEDDLE_HOST_CXX, else the first of clang++, g++, c++ on PATH.
  std::string compiler;
  Instrumentation instrumentation = Instrumentation::kChecks;
};

/// A kernel's entry point in a shared object, which lives as long as this.
class HostKernel {
 public:
  using Entry = void (*)(AttentionParameters);
  using MappedEntry = void (*)(MappedParameters);

  HostKernel(std::unique_ptr<const KernelFolder> folder, const std::string& entry);
  ~HostKernel();
  HostKernel(const HostKernel&) = delete;
  HostKernel& operator=(const HostKernel&) = delete;

  Entry entry() const { return entry_; }
  /// The same of a kernel that loads by TMA.
  MappedEntry mapped_entry() const {
    return reinterpret_cast<MappedEntry>(reinterpret_cast<void*>(entry_));
  }
  /// Any other function that the text exports, by its C name; null where there is none.
  void* symbol(const std::string& name) const;
  /// Tells the object's code which thread it is now.
  void enter(const host::ThreadState* state) const { enter_(state); }
  /// Source lines of a code address, innermost first: "part/softmax.cuh:57", …; empty where
  /// unknown.
  std::string locate(const void* where) const;

 private:
  std::unique_ptr<const KernelFolder> folder_;  ///< outlives the library
  void* library_ = nullptr;
  Entry entry_ = nullptr;
  void (*enter_)(const host::ThreadState*) = nullptr;
};

/// Compiles each kernel once. Any thread may call it.
class HostCompiler {
 public:
  /// Throws kHostCompilerMissing where there is none.
  explicit HostCompiler(HostCompilerOptions options = {});
  ~HostCompiler();

  /// Throws kCompileFailed with the compiler's words.
  std::shared_ptr<const HostKernel> compile(const KernelSource& source);
  const std::string& compiler() const { return compiler_; }

 private:
  std::shared_ptr<const HostKernel> build(const KernelSource& source);

  std::string compiler_;
  Instrumentation instrumentation_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const HostKernel>> kernels_;
};

}  // namespace heddle
