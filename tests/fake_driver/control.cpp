// The controls that tests call, and the look-up of entry points by name.

#include <cstdlib>
#include <cstring>

#include "tests/fake_driver/exports.hpp"

using namespace heddle;        // NOLINT: the names below are C symbols, outside any namespace
using namespace heddle::fake;  // NOLINT

HEDDLE_FAKE_EXPORT DriverResult cuGetProcAddress_v2(const char* name, void** address, int version,
                                                    std::uint64_t, int*) {
  *address = nullptr;
  if (!state().proc_address || version > state().version) return kDriverNotFound;
#define HEDDLE_FAKE_FIND(member, symbol, ...) \
  if (std::strcmp(name, #member) == 0) *address = reinterpret_cast<void*>(&symbol);
  HEDDLE_DRIVER_ENTRY_POINTS(HEDDLE_FAKE_FIND)
#undef HEDDLE_FAKE_FIND
  return *address == nullptr ? kDriverNotFound : kDriverSuccess;
}

void fake_cuda_reset() {
  State& fake = state();
  const std::scoped_lock lock(fake.mutex, fake.launch_mutex);
  for (auto& count : fake.calls) count = 0;
  fake.initialized = false;
  fake.version = 13000;
  fake.proc_address = true;
  fake.capturing_streams = 0;
  fake.faults_armed = false;
  fake.global_fault = kDriverSuccess;
  fake.faults = {};
  fake.devices = {FakeDevice{}};
  for (const auto& context : fake.contexts) context->alive = false;
  for (const auto& stream : fake.streams) stream->alive = stream->capturing = false;
  for (const auto& module : fake.modules) module->unload();
  fake.primary_contexts.clear();
  for (const auto& [address, allocation] : fake.allocations) {
    std::free(reinterpret_cast<void*>(address));
  }
  fake.allocations.clear();
  fake.launch_count = 0;
  fake.launch_seconds = 10e-6;
  fake.hook = fake.usual_hook;
  context_stack().depth = 0;
}

void fake_cuda_set_devices(const FakeDevice* devices, int count) {
  const std::lock_guard lock(state().mutex);
  state().devices.assign(devices, devices + count);
}

void fake_cuda_set_version(int version) {
  state().version = version;
}
void fake_cuda_set_proc_address(int available) {
  state().proc_address = available != 0;
}

bool fake_cuda_fail_nth(const char* name, int nth, DriverResult code) {
  const int entry = entry_of(name);
  if (entry == kEntryCount) return false;
  const std::lock_guard lock(state().mutex);
  state().faults[static_cast<std::size_t>(entry)] = {nth, code};
  state().faults_armed = true;
  return true;
}

bool fake_cuda_fail_next(const char* name, DriverResult code) {
  return fake_cuda_fail_nth(name, 1, code);
}

void fake_cuda_fail_all(DriverResult code) {
  state().global_fault = code;
  state().faults_armed = true;
}

void fake_cuda_set_sticky_error(DriverContext context, DriverResult code) {
  static_cast<Context*>(context)->sticky = code;
}

long long fake_cuda_call_count(const char* name) {
  const int entry = entry_of(name);
  return entry == kEntryCount ? -1 : state().calls[static_cast<std::size_t>(entry)].load();
}

long long fake_cuda_total_calls() {
  long long total = 0;
  for (const auto& count : state().calls) total += count;
  return total;
}

long long fake_cuda_launch_count() {
  const std::lock_guard lock(state().launch_mutex);
  return state().launch_count;
}

bool fake_cuda_launch(long long index, FakeLaunch* launch) {
  State& fake = state();
  const std::lock_guard lock(fake.launch_mutex);
  constexpr long long kSlots = State::kLaunchSlots;
  // The next launch's slot may already hold a refused attempt.
  if (index < 0 || index >= fake.launch_count || index <= fake.launch_count - kSlots) return false;
  *launch = fake.launches[static_cast<std::size_t>(index % kSlots)];
  return true;
}

bool fake_cuda_last_launch(FakeLaunch* launch) {
  return fake_cuda_launch(fake_cuda_launch_count() - 1, launch);
}

void fake_cuda_on_launch(FakeKernelHook* hook, void* user) {
  const std::lock_guard lock(state().launch_mutex);
  state().hook = hook;
  state().hook_user = user;
}

void fake_cuda_set_launch_seconds(double seconds) {
  const std::lock_guard lock(state().launch_mutex);
  state().launch_seconds = seconds;
}

DriverContext fake_cuda_create_context(int device) {
  const std::lock_guard lock(state().mutex);
  state().contexts.push_back(std::make_unique<Context>());
  state().contexts.back()->device = device;
  return state().contexts.back().get();
}

void fake_cuda_reset_context(DriverContext context) {
  const std::lock_guard lock(state().mutex);
  for (const auto& module : state().modules) {
    if (module->context == context) module->unload();
  }
  for (const auto& stream : state().streams) {
    if (stream->context == context) stream->alive = false;
  }
}

void fake_cuda_destroy_context(DriverContext context) {
  fake_cuda_reset_context(context);
  static_cast<Context*>(context)->alive = false;
}

DriverStream fake_cuda_create_stream(DriverContext context) {
  const std::lock_guard lock(state().mutex);
  state().streams.push_back(std::make_unique<Stream>());
  state().streams.back()->context = static_cast<Context*>(context);
  return state().streams.back().get();
}

void fake_cuda_set_capturing(DriverStream stream, bool capturing) {
  const bool before = static_cast<Stream*>(stream)->capturing.exchange(capturing);
  state().capturing_streams += static_cast<int>(capturing) - static_cast<int>(before);
}

int fake_cuda_live_modules() {
  const std::lock_guard lock(state().mutex);
  int live = 0;
  for (const auto& module : state().modules) live += module->alive ? 1 : 0;
  return live;
}

int fake_cuda_live_allocations() {
  const std::lock_guard lock(state().mutex);
  return static_cast<int>(state().allocations.size());
}

int fake_cuda_primary_references(int device) {
  const std::lock_guard lock(state().mutex);
  const auto primary = state().primary_contexts.find(device);
  return primary == state().primary_contexts.end() ? 0 : primary->second->primary_references;
}

int fake_cuda_shared_opt_in(DriverContext context, const char* kernel) {
  const std::lock_guard lock(state().mutex);
  for (const auto& module : state().modules) {
    if (!module->alive || module->context != context) continue;
    for (const auto& function : module->functions) {
      if (function->name == kernel) return function->shared_limit;
    }
  }
  return -1;
}
