#include "runtime/quantiser.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "runtime/loaded_modules.hpp"
#include "runtime/pointer_check.hpp"
#include "runtime/stream_scope.hpp"

namespace heddle {
namespace {

constexpr std::uintptr_t kAlignment = 16;

/// One of Q, K and V on its way.
struct TensorTask {
  const char* name = "";
  QuantiserConfig config;
  QuantiserSizes sizes;
  QuantiserPlan plan;
  QuantiserPointers pointers;
  bool wanted = false;
};

/// K before Q, whose shift needs K's mean.
struct Tasks {
  std::array<TensorTask, 3> tensors;
  std::size_t key_mean_bytes = 0;  ///< at the front of the workspace
  std::size_t workspace_bytes = 0;

  TensorTask& key() { return tensors[0]; }
  TensorTask& query() { return tensors[1]; }
  TensorTask& value() { return tensors[2]; }
};

std::size_t round_up(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

Tasks plan_tasks(const QuantiserCall& call) {
  require(reject_problem(call.problem));
  const QuantiserConfigs configs = quantiser_configs(call.problem.variant, call.dtype, call.recipe);
  const Sizes& sizes = call.problem.sizes;
  const int kv_heads = sizes.resolved_kv_heads();
  const auto size = [&](int heads, int rows, const QuantiserInput& input, const Strides& output) {
    return QuantiserSizes{sizes.batch, heads, rows, input.strides, output};
  };
  Tasks tasks;
  tasks.key() = {"key", configs.key, size(kv_heads, sizes.seqlen_kv, call.key, sizes.key_strides)};
  tasks.query() = {"query", configs.query,
                   size(sizes.heads, sizes.seqlen_q, call.query, sizes.query_strides)};
  tasks.value() = {"value", configs.value,
                   size(kv_heads, sizes.seqlen_kv, call.value, sizes.value_strides)};
  tasks.key().pointers = {call.key.data, call.results.key,
                          const_cast<float*>(call.results.key_descale)};
  tasks.query().pointers = {call.query.data, call.results.query,
                            const_cast<float*>(call.results.query_descale)};
  tasks.value().pointers = {call.value.data, call.results.value,
                            const_cast<float*>(call.results.value_descale),
                            const_cast<float*>(call.results.value_mean)};
  std::size_t scratch = 0;
  for (TensorTask& task : tasks.tensors) {
    task.wanted = task.pointers.input != nullptr;
    if (!task.wanted) continue;
    task.plan = plan_quantiser(task.config, task.sizes);
    scratch = std::max(scratch, task.plan.workspace_bytes);
  }
  if (call.recipe.key_mean) {
    tasks.key_mean_bytes = round_up(sizeof(float) * static_cast<std::size_t>(sizes.batch) *
                                    static_cast<std::size_t>(kv_heads) *
                                    static_cast<std::size_t>(configs.key.head_dim));
  }
  tasks.workspace_bytes = tasks.key_mean_bytes + scratch;
  return tasks;
}

void require_pointer(const char* field, const void* pointer, std::uintptr_t alignment) {
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
  if (pointer != nullptr && is_aligned) return;
  throw Error(ErrorCode::kInvalidArgument, field,
              fmt::format("{}: address {} is {}; the quantiser writes or reads there: pass device "
                          "memory aligned to {} bytes",
                          field, pointer, pointer == nullptr ? "null" : "misaligned", alignment));
}

void require_results(const QuantiserCall& call, const Tasks& tasks) {
  for (const TensorTask& task : tasks.tensors) {
    if (!task.wanted) continue;
    const std::string name(task.name);
    require_pointer(task.name, task.pointers.input, kAlignment);
    require_pointer(task.name, task.pointers.output, kAlignment);
    require_pointer((name + "_descale").c_str(), task.pointers.scales, sizeof(float));
  }
  if (call.recipe.value_mean && call.value.data != nullptr) {
    require_pointer("value_mean", call.results.value_mean, kAlignment);
  }
  if (!call.recipe.key_mean) return;
  if ((call.query.data == nullptr) != (call.key.data == nullptr)) {
    throw Error(ErrorCode::kInvalidArgument, call.query.data == nullptr ? "query" : "key",
                fmt::format("{}: is null, but K's mean is to be taken off, which both tensors need "
                            "to know; give both, or leave the mean",
                            call.query.data == nullptr ? "query" : "key"));
  }
  if (call.query.data != nullptr) {
    require_pointer("log_sum_exp_shift", call.results.log_sum_exp_shift, sizeof(float));
  }
}

}  // namespace

/// One tensor's kernels in one context.
struct Quantiser::Resident {
  QuantiserConfig config;
  LoadedModules modules;

  Resident(const QuantiserConfig& of, std::shared_ptr<const Driver> driver, DriverContext context)
      : config(of), modules(std::move(driver), context) {}
};

Quantiser::Quantiser(KernelProvider& provider) : provider_(provider) {}
Quantiser::~Quantiser() = default;

std::size_t Quantiser::workspace_bytes(const QuantiserCall& call) {
  return plan_tasks(call).workspace_bytes;
}

const Quantiser::Resident& Quantiser::resident(const QuantiserConfig& config,
                                               const QuantiserCall& call, bool& is_new) {
  const Driver::Api& api = provider_.driver().api();
  DriverContext context = nullptr;
  check_driver(api, api.cuCtxGetCurrent(&context), "cuCtxGetCurrent");
  {
    const std::lock_guard lock(mutex_);
    for (const auto& known : residents_) {
      if (known->config == config && known->modules.context() == context &&
          known->modules.are_loaded()) {
        return *known;
      }
    }
  }
  if (is_capturing(api, call.stream)) {
    throw Error(ErrorCode::kCaptureMiss, "stream",
                fmt::format("stream: is being captured, but the quantiser's kernels ({}) are not "
                            "resident; quantise once before the capture",
                            canonical_text(config)));
  }
  is_new = true;
  const DeviceLimits& limits = provider_.limits(current_device(api));
  auto loaded = std::make_unique<Resident>(config, provider_.shared_driver(), context);
  for (const QuantiserPart part : quantiser_parts(config)) {
    const auto compiled =
        provider_.compiler().compile(emit_quantiser(config, part, limits.architecture));
    loaded->modules.load({.entry = compiled->entry,
                          .cubin = compiled->cubin,
                          .shared_bytes = quantiser_footprint(config, part).shared_bytes,
                          .architecture = limits.architecture,
                          .compiler = "NVRTC"});
  }
  const std::lock_guard lock(mutex_);
  residents_.push_back(std::move(loaded));
  return *residents_.back();
}

void Quantiser::run(const QuantiserCall& call, void* workspace) {
  Tasks tasks = plan_tasks(call);
  require_results(call, tasks);
  auto* key_means = static_cast<float*>(workspace);
  auto* scratch = static_cast<char*>(workspace) + tasks.key_mean_bytes;
  for (TensorTask& task : tasks.tensors) {
    if (!task.wanted || task.plan.launches.empty()) continue;
    bool is_new = false;
    const Resident& kernels = resident(task.config, call, is_new);
    if (is_new) {
      const TensorPointers touched{.query = const_cast<void*>(task.pointers.input),
                                   .output = task.pointers.output};
      require_device_memory(provider_.driver().api(), touched,
                            current_device(provider_.driver().api()));
    }
    task.pointers.workspace = scratch;
    if (&task == &tasks.key() && call.recipe.key_mean) task.pointers.means = key_means;
    QuantiseParameters parameters =
        quantiser_parameters(task.config, task.sizes, task.pointers, call.seed);
    if (task.config.shift) {
      parameters.key_means = key_means;
      parameters.kv_heads = call.problem.sizes.resolved_kv_heads();
      parameters.scale =
          static_cast<float>(resolved_scale(call.problem.variant, call.problem.sizes));
      parameters.log_sum_exp_shift = const_cast<float*>(call.results.log_sum_exp_shift);
    }
    void* arguments[] = {&parameters};
    for (std::size_t i = 0; i < task.plan.launches.size(); ++i) {
      const QuantiserLaunch& launch = task.plan.launches[i];
      kernels.modules.launch(kernels.modules.kernels()[i],
                             {launch.grid, launch.threads, launch.shared_bytes}, arguments,
                             call.stream);
    }
  }
}

}  // namespace heddle
