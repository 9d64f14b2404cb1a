#pragma once
// The cold path: from a question to kernels resident in a CUDA context.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/compiler.hpp"
#include "runtime/driver.hpp"
#include "runtime/loaded_config.hpp"
#include "runtime/selection.hpp"

namespace heddle {

using LogSink = std::function<void(const std::string&)>;

struct ProvidedKernels {
  Choice choice;
  std::shared_ptr<const LoadedConfig> kernels;
  bool from_cache = true;  ///< nothing was compiled for it
};

/// Where kernels are wanted: a context and the device it is on.
struct LoadTarget {
  DriverContext context = nullptr;
  int device = 0;
};

/// Thread-safe. Kernels already resident in the context are shared, so a new size bucket that gets
/// a known config costs a lookup only.
class KernelProvider {
 public:
  struct Options {
    std::string driver_path;
    std::string nvrtc_path;
    std::string results_path;
    std::string cache_path;
    bool use_jit = true;
    /// Of compiled code kept beside what is loaded, so that another context need not read it again.
    long long compiled_bytes = Compiler::Options{}.memory_bytes;
    LogSink log;  ///< may be empty
  };
  explicit KernelProvider(const Options& options);
  ~KernelProvider();

  const Driver& driver() const { return *driver_; }
  std::shared_ptr<const Driver> shared_driver() const { return driver_; }
  Compiler& compiler() { return compiler_; }
  const DeviceLimits& limits(int device);

  /// What the stored results say; compiles nothing.
  Choice choose(const SelectionQuestion& question, int device);
  /// What is known of how much that loses; reads much of the database.
  std::optional<TransferRegret> regret(const SelectionQuestion& question, const Choice& choice,
                                       int device);
  /// Compiles and loads. Where the chosen config fails, the next one that serves is taken (stored
  /// ones, then the default, then the cheapest predicted) and the log told.
  ProvidedKernels provide(const SelectionQuestion& question, const Choice& choice,
                          const LoadTarget& target);
  /// Loads anew next time; launches in flight keep their kernels.
  void forget(const KernelConfig& config, const Variant& variant, const LoadTarget& target);

  long long compile_count() const { return compiler_.compile_count(); }
  long long database_reads() const { return results_.query_count(); }
  void log(const std::string& line) const;

 private:
  struct DeviceFacts {
    DeviceLimits limits;
    DeviceClass device_class;
  };
  struct CompiledParts;
  struct Attempts;

  const DeviceFacts& facts(int device);
  SelectionTarget selection_target(int device);
  ProvidedKernels load(const Variant& variant, const Choice& choice, const LoadTarget& target);
  /// nullopt where that failed, which `attempts` then know.
  std::optional<ProvidedKernels> attempt(const Variant& variant, const Choice& choice,
                                         const LoadTarget& target, Attempts& attempts);
  /// Throws, or tells the log, what the compiler's words mean for a choice.
  void weigh_rejection(const Choice& choice, const Rejection& rejection) const;
  CompiledParts compile_parts(const Variant& variant, const KernelConfig& config,
                              const DeviceLimits& limits);

  LogSink log_;
  std::shared_ptr<const Driver> driver_;
  ResultsStore results_;
  Compiler compiler_;
  std::mutex mutex_;  ///< of the two maps; never held while compiling or loading
  std::map<int, DeviceFacts> devices_;
  std::map<std::string, std::shared_ptr<const LoadedConfig>> resident_;
};

}  // namespace heddle
