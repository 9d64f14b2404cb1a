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
  /// `path`: a libnvrtc file or a folder that holds one; empty = search. Throws kNvrtcMissing with
  /// every place tried and what to install.
  static std::shared_ptr<const Nvrtc> load(const std::string& path);
  virtual ~Nvrtc() = default;

  virtual int major_version() const = 0;
  virtual int minor_version() const = 0;
  virtual const std::string& library_path() const = 0;
  virtual const std::string& build_id() const = 0;
  virtual const std::vector<int>& supported_architectures() const = 0;  ///< 80, 86, … as numbers

  struct Output {
    int status = 0;
    std::string status_name;
    std::string log;
    std::vector<char> cubin;  ///< empty unless asked for and successful
    std::string ptx;
    double seconds = 0;
  };
  /// Compiles flattened text; never throws for a failing compile (status says so).
  virtual Output compile(const KernelSource& source, const std::vector<std::string>& options) const = 0;
};

struct CompiledKernel {
  KernelPart part{};
  std::string entry;
  std::vector<char> cubin;
  CompileNotes notes;
  bool from_cache = false;
};

/// Source -> cubin, through memory and disk cache. Thread-safe; the same key is compiled once even
/// when several threads ask at once.
class Compiler {
 public:
  struct Options {
    std::string nvrtc_path;
    CubinStore::Options cache;
    std::vector<std::string> extra_options;  ///< part of the cache key
  };
  explicit Compiler(Options options);
  ~Compiler();

  /// Throws kCompileFailed (stage, NVRTC code, full log, options) or kNvrtcMissing. A cache hit needs
  /// no NVRTC at all unless its version is unknown.
  std::shared_ptr<const CompiledKernel> compile(const KernelSource& source);
  long long compile_count() const;  ///< NVRTC runs so far
  const Nvrtc& nvrtc();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads registers, spills, stack, shared memory and C75xx remarks out of a compiler log.
CompileNotes parse_compile_log(const std::string& log, const std::string& entry);
/// Why these notes reject a kernel (C75xx remark, more than 16 B of spill per thread), or nullopt.
std::optional<Rejection> reject_notes(const CompileNotes& notes);

}  // namespace heddle
