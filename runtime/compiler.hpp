#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/emit.hpp"
#include "tuning_db/cubin_store.hpp"

namespace heddle {

/// libnvrtc, found at run time (option, $HEDDLE_NVRTC, then soname), never linked, never dlclosed.
class Nvrtc {
 public:
  /// `path`: a libnvrtc file or a folder that holds one (or a toolkit's root); empty = search.
  /// Throws kNvrtcMissing with every place tried and what to install.
  static std::shared_ptr<const Nvrtc> load(const std::string& path);
  virtual ~Nvrtc() = default;

  virtual int major_version() const = 0;
  virtual int minor_version() const = 0;
  virtual const std::string& library_path() const = 0;
  virtual const std::string& build_id() const = 0;  ///< of the loaded file; may be empty
  /// What a cubin's key holds of the compiler: the build ids of libnvrtc and its builtins, else
  /// version, path, size and time of the file.
  virtual const std::string& identity() const = 0;
  virtual const std::vector<int>& supported_architectures() const = 0;  ///< 80, 86, … as numbers

  struct Output {
    int status = 0;
    std::string status_name;  ///< "NVRTC_ERROR_COMPILATION"
    std::string stage;        ///< the NVRTC call that gave the status
    std::string log;
    std::vector<char> cubin;  ///< empty unless the options name a real architecture
    std::string ptx;
    double seconds = 0;
  };
  /// Hands main text and headers to NVRTC under their names, so that its messages quote them; no
  /// file of the machine is read. Never throws for a failing compile (status says so).
  virtual Output compile(const KernelSource& source,
                         const std::vector<std::string>& options) const = 0;
};

/// The options every kernel is compiled with; `architecture` is a real one ("sm_90a").
std::vector<std::string> compile_options(const std::string& architecture,
                                         const std::vector<std::string>& extra = {});

struct CompiledKernel {
  KernelPart part{};
  std::string entry;
  std::vector<char> cubin;
  CompileNotes notes;
  bool from_cache = false;  ///< read from the cubin store, not compiled in this process
};

/// Source -> cubin, through memory and disk cache. Thread-safe; the same key is compiled once even
/// when several threads ask at once, and a failure reaches all of them and is kept nowhere.
class Compiler {
 public:
  struct Options {
    std::string nvrtc_path;
    CubinStore::Options cache;
    std::vector<std::string> extra_options;  ///< part of the cache key; "-lineinfo" goes here
    long long memory_bytes = 64LL << 20;     ///< cubins kept in memory; the oldest go first
    /// Where the source of a failed compile is saved (the last few); empty = beside the cache, or
    /// nowhere if there is none.
    std::string failed_source_folder;
    bool cache_only = false;  ///< never run NVRTC: what is not cached is kCompileFailed
  };
  explicit Compiler(Options options);
  ~Compiler();

  /// Throws kCompileFailed (stage, NVRTC code, full log, options, where the source was saved) or
  /// kNvrtcMissing (none, or none that knows the architecture). A hit in the cache finds NVRTC's
  /// file for its build id but does not load it.
  std::shared_ptr<const CompiledKernel> compile(const KernelSource& source);
  long long compile_count() const;  ///< NVRTC runs so far
  const Nvrtc& nvrtc();             ///< loads it if need be; throws kNvrtcMissing

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads registers, spills, stack, shared memory and C75xx remarks out of a compiler log.
CompileNotes parse_compile_log(const std::string& log, const std::string& entry);
/// Why these notes reject a kernel (C75xx remark, more than 16 B of spill per thread), or nullopt.
std::optional<Rejection> reject_notes(const CompileNotes& notes);

}  // namespace heddle
