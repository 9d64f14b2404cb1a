#include "runtime/compiler.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <deque>
#include <filesystem>
#include <future>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/failed_source.hpp"
#include "runtime/nvrtc_search.hpp"
#include "tuning_db/compile_claim.hpp"

namespace heddle {
namespace {

using Result = std::shared_ptr<const CompiledKernel>;

/// Then another process that compiles the same kernel is taken to be stuck.
constexpr auto kClaimPatience = std::chrono::seconds(60);

/// 90 of "sm_90a"; 0 if it is no real architecture. A virtual one ("compute_90") would give PTX,
/// which a driver older than NVRTC refuses.
int architecture_number(const std::string& architecture) {
  constexpr std::string_view kPrefix = "sm_";
  if (architecture.compare(0, kPrefix.size(), kPrefix) != 0) return 0;
  int number = 0;
  std::from_chars(architecture.data() + kPrefix.size(), architecture.data() + architecture.size(),
                  number);
  return number;
}

void require_architecture(const Nvrtc& nvrtc, const std::string& architecture) {
  const auto& known = nvrtc.supported_architectures();
  const int wanted = architecture_number(architecture);
  if (std::find(known.begin(), known.end(), wanted) != known.end()) return;
  throw Error(
      ErrorCode::kNvrtcMissing, "architecture",
      fmt::format("NVRTC {}.{} ({}) cannot compile for {}; it knows sm_{}. Use an NVRTC that "
                  "is as new as the GPU: {}",
                  nvrtc.major_version(), nvrtc.minor_version(), nvrtc.library_path(), architecture,
                  fmt::join(known, ", sm_"), kNvrtcRemedy));
}

std::string default_failed_folder(const Compiler::Options& options) {
  if (!options.failed_source_folder.empty() || options.cache.path.empty()) {
    return options.failed_source_folder;
  }
  return (std::filesystem::path(options.cache.path).parent_path() / "failed_sources").string();
}

struct Failure {
  const KernelSource& source;
  const Nvrtc& nvrtc;
  const Nvrtc::Output& output;
  const std::vector<std::string>& options;
  std::string problem;
  std::string saved;
};

Error compile_error(const Failure& failure) {
  const Nvrtc::Output& output = failure.output;
  const std::string saved = failure.saved.empty() ? "not saved (no folder for it)" : failure.saved;
  return Error(ErrorCode::kCompileFailed, failure.source.entry,
               fmt::format("{}: {} {}: {} (code {})\n  NVRTC {}.{}: {}\n  options: {}\n"
                           "  source: {}\n  log:\n{}",
                           failure.source.entry, output.stage, failure.problem, output.status_name,
                           output.status, failure.nvrtc.major_version(),
                           failure.nvrtc.minor_version(), failure.nvrtc.library_path(),
                           fmt::join(failure.options, " "), saved, output.log));
}

/// Everything that can change a cubin, each part ended by a character that no part holds.
Hash128 cubin_key(const KernelSource& source, const std::vector<std::string>& options,
                  const std::string& nvrtc_identity) {
  return hash_text(fmt::format("heddle cubin\n{}\n{}\n{}\n{}\n{}", source_hash(source).hex(),
                               source.entry, source.architecture, nvrtc_identity,
                               fmt::join(options, "\n")));
}

}  // namespace

std::vector<std::string> compile_options(const std::string& architecture,
                                         const std::vector<std::string>& extra) {
  std::vector<std::string> options = {"--gpu-architecture=" + architecture, "--std=c++17",
                                      "--device-as-default-execution-space", "--ptxas-options=-v"};
  options.insert(options.end(), extra.begin(), extra.end());
  return options;
}

struct Compiler::State {
  explicit State(Options given)
      : options(std::move(given)),
        failed_folder(default_failed_folder(options)),
        store(options.cache) {}

  const Options options;
  const std::string failed_folder;
  CubinStore store;  // has its own lock
  std::atomic<long long> compiles{0};

  std::mutex mutex;  // guards what follows; never held while compiling
  std::map<Hash128, std::shared_future<Result>> kernels;
  std::deque<std::pair<Hash128, long long>> finished;  ///< oldest first, with bytes
  long long finished_bytes = 0;

  std::mutex nvrtc_mutex;  // guards what follows
  std::shared_ptr<const Nvrtc> nvrtc;
  std::string identity;

  const Nvrtc& loaded_nvrtc();
  std::string nvrtc_identity();
  Result build(const KernelSource& source, const Hash128& key);
  Result from_store(const KernelSource& source, const Hash128& key);
  Result run_nvrtc(const KernelSource& source);
  void remember(const Hash128& key, long long bytes);
  void forget(const Hash128& key);
};

const Nvrtc& Compiler::State::loaded_nvrtc() {
  const std::lock_guard lock(nvrtc_mutex);
  if (!nvrtc) nvrtc = Nvrtc::load(options.nvrtc_path);
  identity = nvrtc->identity();
  return *nvrtc;
}

/// From the file alone if it has a build id: loading NVRTC would cost more than the whole hit.
std::string Compiler::State::nvrtc_identity() {
  {
    const std::lock_guard lock(nvrtc_mutex);
    if (!identity.empty()) return identity;
    const auto found = find_nvrtc(NvrtcSearch::from_environment(options.nvrtc_path));
    if (!found.files.empty()) identity = found.files.front().identity;
    if (!identity.empty()) return identity;
  }
  return loaded_nvrtc().identity();
}

Result Compiler::State::from_store(const KernelSource& source, const Hash128& key) {
  std::optional<StoredCubin> stored = store.get(key);
  if (!stored || stored->bytes.empty() || stored->entry != source.entry) return nullptr;
  return std::make_shared<const CompiledKernel>(CompiledKernel{
      source.part, source.entry, std::move(stored->bytes), std::move(stored->notes), true});
}

Result Compiler::State::run_nvrtc(const KernelSource& source) {
  const Nvrtc& compiler = loaded_nvrtc();
  require_architecture(compiler, source.architecture);
  const auto arguments = compile_options(source.architecture, options.extra_options);
  ++compiles;
  Nvrtc::Output output = compiler.compile(source, arguments);
  if (output.status != 0 || output.cubin.empty()) {
    const char* problem = output.status != 0 ? "failed" : "gave an empty cubin";
    throw compile_error(
        {source, compiler, output, arguments, problem, save_failed_source(failed_folder, source)});
  }
  CompileNotes notes = parse_compile_log(output.log, source.entry);
  notes.seconds = output.seconds;
  return std::make_shared<const CompiledKernel>(
      CompiledKernel{source.part, source.entry, std::move(output.cubin), std::move(notes), false});
}

Result Compiler::State::build(const KernelSource& source, const Hash128& key) {
  if (Result stored = from_store(source, key)) return stored;
  if (options.cache_only) {
    throw Error(ErrorCode::kCompileFailed, source.entry,
                fmt::format("{} for {} is not in the cubin cache '{}', and compiling is switched "
                            "off; allow it, or fill the cache first",
                            source.entry, source.architecture, options.cache.path));
  }
  // Several processes that begin on an empty cache want the same kernels: whoever comes second,
  // while one compiles or just after, looks again.
  const CompileClaim claim(options.cache.path, key, kClaimPatience);
  if (Result stored = from_store(source, key)) return stored;
  Result compiled = run_nvrtc(source);
  // Under what is loaded: the file that the key was made from may have been replaced meanwhile.
  const auto arguments = compile_options(source.architecture, options.extra_options);
  const Hash128 true_key = cubin_key(source, arguments, loaded_nvrtc().identity());
  store.put(true_key, {compiled->cubin, compiled->entry, compiled->notes});
  return compiled;
}

void Compiler::State::remember(const Hash128& key, long long bytes) {
  const std::lock_guard lock(mutex);
  finished.emplace_back(key, bytes);
  finished_bytes += bytes;
  while (finished_bytes > options.memory_bytes && finished.size() > 1) {
    kernels.erase(finished.front().first);
    finished_bytes -= finished.front().second;
    finished.pop_front();
  }
}

void Compiler::State::forget(const Hash128& key) {
  const std::lock_guard lock(mutex);
  kernels.erase(key);
}

Compiler::Compiler(Options options) : state_(std::make_unique<State>(std::move(options))) {}
Compiler::~Compiler() = default;

std::shared_ptr<const CompiledKernel> Compiler::compile(const KernelSource& source) {
  if (architecture_number(source.architecture) == 0) {
    throw Error(ErrorCode::kInvalidArgument, "architecture",
                fmt::format("architecture \"{}\" is not a real one; give one such as sm_90a",
                            source.architecture));
  }
  const auto options = compile_options(source.architecture, state_->options.extra_options);
  const Hash128 key = cubin_key(source, options, state_->nvrtc_identity());
  std::promise<Result> promise;
  {
    std::unique_lock lock(state_->mutex);
    const auto [entry, ours] = state_->kernels.try_emplace(key);
    if (!ours) {
      const std::shared_future<Result> theirs = entry->second;
      lock.unlock();
      return theirs.get();  // waits for the thread that builds it; rethrows its failure
    }
    entry->second = promise.get_future().share();
  }
  try {
    Result result = state_->build(source, key);
    state_->remember(key, static_cast<long long>(result->cubin.size()));
    promise.set_value(result);
    return result;
  } catch (...) {
    state_->forget(key);
    promise.set_exception(std::current_exception());
    throw;
  }
}

long long Compiler::compile_count() const {
  return state_->compiles;
}

const Nvrtc& Compiler::nvrtc() {
  return state_->loaded_nvrtc();
}

}  // namespace heddle
