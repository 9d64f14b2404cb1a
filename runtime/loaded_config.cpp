#include "runtime/loaded_config.hpp"

#include <vector>

#include "generator/tensor_maps.hpp"
#include "runtime/driver_api.hpp"
#include "runtime/stream_scope.hpp"
#include "runtime/tile_counters.hpp"
#include "templates/mapped_parameters.cuh"

namespace heddle {
namespace {

void encode_map(const Driver& driver, const TensorMapRequest& request, TensorMap& map) {
  const auto& api = driver.api();
  check_driver(api,
               api.cuTensorMapEncodeTiled(
                   &map, static_cast<int>(request.type), static_cast<unsigned>(request.rank),
                   request.address, request.dims.data(), request.strides.data(), request.box.data(),
                   request.element_strides.data(), kNoInterleave, static_cast<int>(request.swizzle),
                   kNoL2Promotion, kFillZeros),
               "cuTensorMapEncodeTiled");
}

void encode_maps(const Driver& driver, const LaunchPlan& plan,
                 const AttentionParameters& parameters, MappedParameters& mapped) {
  const auto requests = tensor_map_requests(parameters, plan.maps);
  encode_map(driver, requests[0], mapped.query);
  encode_map(driver, requests[1], mapped.key);
  encode_map(driver, requests[2], mapped.value);
  if (plan.maps.stores) encode_map(driver, requests[3], mapped.output);
  mapped.attention = parameters;
}

}  // namespace

struct LoadedConfig::State {
  std::shared_ptr<const Driver> driver;
  LoadedModules modules;
  TileCounters counters;

  State(std::shared_ptr<const Driver> used_driver, DriverContext context)
      : driver(used_driver), modules(std::move(used_driver), context) {}

  const LoadedKernel* find(KernelPart part) const;
};

const LoadedKernel* LoadedConfig::State::find(KernelPart part) const {
  for (const LoadedKernel& kernel : modules.kernels()) {
    if (kernel.part == part) return &kernel;
  }
  return nullptr;
}

LoadedConfig::LoadedConfig(std::shared_ptr<const Driver> driver, DriverContext context,
                           std::span<const KernelImage> images)
    : state_(std::make_unique<State>(std::move(driver), context)) {
  const ContextScope scope(state_->driver->api(), context);
  for (const KernelImage& image : images) {
    const LoadedKernel& kernel = state_->modules.load(image);
    if (image.draws_tiles) state_->counters.find(state_->driver->api(), kernel.module);
  }
}

LoadedConfig::~LoadedConfig() = default;

void LoadedConfig::launch(const LaunchPlan& plan, const AttentionParameters& parameters,
                          DriverStream stream) const {
  MappedParameters mapped;
  // The driver reads the parameters before it returns and never writes them.
  void* plain[] = {const_cast<AttentionParameters*>(&parameters)};
  void* with_maps[] = {&mapped};
  if (plan.maps.query_rows > 0) {
    encode_maps(*state_->driver, plan, parameters, mapped);
    if (plan.draws_tiles) {
      const bool is_captured = is_capturing(state_->driver->api(), stream);
      mapped.attention.tile_counter = state_->counters.take(is_captured);
    }
  }
  for (int i = 0; i < plan.count; ++i) {
    const PartLaunch& part = plan.launches[static_cast<std::size_t>(i)];
    const LoadedKernel* kernel = state_->find(part.part);
    if (kernel == nullptr) {
      throw Error(ErrorCode::kInternal, "the plan launches " + std::string(enum_name(part.part)) +
                                            ", which this config has not loaded");
    }
    state_->modules.launch(*kernel, {part.grid, part.threads, part.shared_bytes},
                           loads_by_tma(part.part) ? with_maps : plain, stream);
  }
}

DriverContext LoadedConfig::context() const {
  return state_->modules.context();
}

bool LoadedConfig::is_loaded() const noexcept {
  return state_->modules.are_loaded();
}

LoadedConfig::Resources LoadedConfig::resources(KernelPart part) const {
  const LoadedKernel* kernel = state_->find(part);
  return kernel == nullptr ? Resources{} : kernel->resources;
}

}  // namespace heddle
