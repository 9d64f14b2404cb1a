// Entry points: modules, functions, launches.

#include <algorithm>
#include <cstring>

#include "generator/emit.hpp"
#include "tests/fake_driver/exports.hpp"

using namespace heddle;        // NOLINT: the names below are the driver's, outside any namespace
using namespace heddle::fake;  // NOLINT

namespace {

constexpr unsigned kMaxThreadsPerBlock = 1024;
constexpr unsigned kMaxGridX = 0x7fffffff;
constexpr unsigned kMaxGridYz = 0xffff;

int shared_bytes_limit(int device) {
  const std::lock_guard lock(state().mutex);
  return state().devices[static_cast<std::size_t>(device)].shared_bytes_per_block;
}

/// The rules a launch has to keep, in the order in which the driver tells.
DriverResult check_launch(const Function* function, const FakeLaunch& launch) {
  if (function == nullptr) return kDriverInvalidHandle;
  const Context* current = current_context();
  const DriverResult health = context_result(current);
  if (health != kDriverSuccess) return health;
  if (!function->alive) return kDriverInvalidHandle;
  if (function->context != current) return kDriverInvalidContext;
  const Stream* stream = explicit_stream(launch.stream);
  if (stream != nullptr && (!stream->alive || stream->context != current)) {
    return kDriverInvalidHandle;
  }
  const bool grid_fits = launch.grid[0] - 1 < kMaxGridX && launch.grid[1] - 1 < kMaxGridYz &&
                         launch.grid[2] - 1 < kMaxGridYz;
  const std::size_t threads = std::size_t{launch.block[0]} * launch.block[1] * launch.block[2];
  const bool block_fits = threads - 1 < kMaxThreadsPerBlock;
  const bool shared_fits = launch.shared_bytes <= static_cast<unsigned>(function->shared_limit);
  return grid_fits && block_fits && shared_fits ? kDriverSuccess : kDriverInvalidValue;
}

}  // namespace

DriverResult cuModuleLoadData(DriverModule* module, const void* image) {
  Context* current = nullptr;
  DriverResult result = enter(Entry::cuModuleLoadData, current);
  if (result == kDriverSuccess) result = refuse_while_capturing();
  if (result != kDriverSuccess) return result;
  // PTX, or anything else that is not ELF: what an older driver says to a newer compiler's PTX.
  if (std::strncmp(static_cast<const char*>(image),
                   "\x7f"
                   "ELF",
                   4) != 0) {
    return kDriverUnsupportedPtxVersion;
  }
  auto object = std::make_unique<Module>();
  object->context = current;
  object->functions = parse_image(image);
  if (object->functions.empty()) return kDriverInvalidImage;
  for (const auto& function : object->functions) function->context = current;
  const std::lock_guard lock(state().mutex);
  *module = object.get();
  state().modules.push_back(std::move(object));
  return kDriverSuccess;
}

DriverResult cuModuleUnload(DriverModule module) {
  Context* current = nullptr;
  const DriverResult result = enter(Entry::cuModuleUnload, current);
  if (result != kDriverSuccess) return result;
  Module* object = static_cast<Module*>(module);
  if (object == nullptr || object->context != current) return kDriverInvalidContext;
  return object->unload() ? kDriverSuccess : kDriverInvalidHandle;
}

DriverResult cuModuleGetFunction(DriverFunction* function, DriverModule module, const char* name) {
  Context* current = nullptr;
  const DriverResult result = enter(Entry::cuModuleGetFunction, current);
  if (result != kDriverSuccess) return result;
  for (const auto& candidate : static_cast<Module*>(module)->functions) {
    if (candidate->name != name) continue;
    *function = candidate.get();
    return kDriverSuccess;
  }
  return kDriverNotFound;
}

DriverResult cuModuleGetGlobal_v2(DevicePointer* address, std::size_t* bytes, DriverModule module,
                                  const char* name) {
  Context* current = nullptr;
  const DriverResult result = enter(Entry::cuModuleGetGlobal_v2, current);
  if (result != kDriverSuccess) return result;
  if (name != kTileCountersName) return kDriverNotFound;
  auto& counters = static_cast<Module*>(module)->tile_counters;
  counters.resize(kTileCounters);
  *address = reinterpret_cast<DevicePointer>(counters.data());
  *bytes = counters.size() * sizeof counters[0];
  return kDriverSuccess;
}

DriverResult cuFuncGetAttribute(int* value, FunctionAttribute attribute, DriverFunction function) {
  Context* current = nullptr;
  const DriverResult result = enter(Entry::cuFuncGetAttribute, current);
  if (result != kDriverSuccess) return result;
  if (!static_cast<Function*>(function)->alive) return kDriverInvalidHandle;
  constexpr int kSomeRegisters = 32;
  *value = attribute == FunctionAttribute::kRegisters ? kSomeRegisters : 0;
  if (attribute == FunctionAttribute::kMaxDynamicSharedBytes) {
    *value = static_cast<Function*>(function)->shared_limit;
  }
  return kDriverSuccess;
}

DriverResult cuFuncSetAttribute(DriverFunction function, FunctionAttribute attribute, int value) {
  Context* current = nullptr;
  const DriverResult result = enter(Entry::cuFuncSetAttribute, current);
  if (result != kDriverSuccess) return result;
  Function* object = static_cast<Function*>(function);
  if (object == nullptr || !object->alive || object->context != current)
    return kDriverInvalidHandle;
  if (attribute != FunctionAttribute::kMaxDynamicSharedBytes) return kDriverInvalidValue;
  if (value < 0 || value > shared_bytes_limit(current->device)) return kDriverInvalidValue;
  object->shared_limit = value;
  return kDriverSuccess;
}

DriverResult cuLaunchKernel(DriverFunction handle, unsigned grid_x, unsigned grid_y,
                            unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, DriverStream stream, void** parameters, void**) {
  DriverResult result = enter(Entry::cuLaunchKernel);
  if (result != kDriverSuccess) return result;
  const Function* function = static_cast<Function*>(handle);
  State& fake = state();
  const std::lock_guard lock(fake.launch_mutex);
  // Filled in place: a local copy with its kilobyte of parameters would cost more than the rest.
  FakeLaunch& launch =
      fake.launches[static_cast<std::size_t>(fake.launch_count % State::kLaunchSlots)];
  launch.grid[0] = grid_x, launch.grid[1] = grid_y, launch.grid[2] = grid_z;
  launch.block[0] = block_x, launch.block[1] = block_y, launch.block[2] = block_z;
  launch.shared_bytes = shared_bytes;
  launch.stream = stream;
  result = check_launch(function, launch);
  if (result != kDriverSuccess) return result;

  const Stream* object = explicit_stream(stream);
  launch.kernel = function->name.c_str();
  launch.variant = function->variant.c_str();
  launch.context = function->context;
  launch.device = function->context->device;
  launch.captured = object != nullptr && object->capturing;
  launch.parameter_bytes =
      std::min(function->parameter_bytes, static_cast<unsigned>(kFakeParameterBytes));
  if (launch.parameter_bytes > 0) {
    std::memcpy(launch.parameters, parameters[0], launch.parameter_bytes);
  }
  ++fake.launch_count;
  if (fake.hook != nullptr) fake.hook(&launch, fake.hook_user);
  if (!launch.captured) function->context->clock_seconds += fake.launch_seconds;
  return kDriverSuccess;
}

/// Checks what the real one does of the arguments that heddle sends; the map is opaque.
DriverResult cuTensorMapEncodeTiled(TensorMap* map, int, unsigned rank, void* address,
                                    const std::uint64_t* dims, const std::uint64_t* strides,
                                    const std::uint32_t* box, const std::uint32_t*, int, int, int,
                                    int) {
  const DriverResult result = enter(Entry::cuTensorMapEncodeTiled);
  if (result != kDriverSuccess) return result;
  constexpr std::uint64_t kAlignment = 16;
  constexpr std::uint32_t kMostBox = 256;
  bool good = map != nullptr && rank >= 1 && rank <= 5 &&
              reinterpret_cast<std::uintptr_t>(address) % kAlignment == 0;
  for (unsigned i = 0; good && i < rank; ++i) {
    good = dims[i] > 0 && dims[i] <= 1ull << 32 && box[i] > 0 && box[i] <= kMostBox;
    if (i + 1 < rank) good = good && strides[i] % kAlignment == 0 && strides[i] < 1ull << 40;
  }
  if (!good) return kDriverInvalidValue;
  *map = TensorMap{};
  return kDriverSuccess;
}
