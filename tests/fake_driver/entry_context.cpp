// Entry points: contexts, streams, events.

#include "tests/fake_driver/exports.hpp"

using namespace heddle;        // NOLINT: the names below are the driver's, outside any namespace
using namespace heddle::fake;  // NOLINT

namespace {

Context* new_context(State& fake, int device) {
  fake.contexts.push_back(std::make_unique<Context>());
  fake.contexts.back()->device = device;
  return fake.contexts.back().get();
}

/// A stream's context, or the current one for the null stream and its kin.
Context* context_of(DriverStream stream) {
  const Stream* object = explicit_stream(stream);
  return object == nullptr ? current_context() : object->context;
}

}  // namespace

DriverResult cuDevicePrimaryCtxRetain(DriverContext* context, DeviceHandle device) {
  const DriverResult result = enter(Entry::cuDevicePrimaryCtxRetain);
  if (result != kDriverSuccess) return result;
  State& fake = state();
  const std::lock_guard lock(fake.mutex);
  if (device < 0 || device >= static_cast<int>(fake.devices.size())) return kDriverInvalidDevice;
  Context*& primary = fake.primary_contexts[device];
  if (primary == nullptr) primary = new_context(fake, device);
  primary->alive = true;
  ++primary->primary_references;
  *context = primary;
  return kDriverSuccess;
}

DriverResult cuDevicePrimaryCtxRelease_v2(DeviceHandle device) {
  const DriverResult result = enter(Entry::cuDevicePrimaryCtxRelease_v2);
  if (result != kDriverSuccess) return result;
  State& fake = state();
  const std::lock_guard lock(fake.mutex);
  const auto primary = fake.primary_contexts.find(device);
  if (primary == fake.primary_contexts.end() || primary->second->primary_references == 0) {
    return kDriverInvalidContext;
  }
  if (--primary->second->primary_references == 0) primary->second->alive = false;
  return kDriverSuccess;
}

DriverResult cuCtxGetCurrent(DriverContext* context) {
  const DriverResult result = enter(Entry::cuCtxGetCurrent);
  if (result == kDriverSuccess) *context = current_context();
  return result;
}

DriverResult cuCtxSetCurrent(DriverContext context) {
  const DriverResult result = enter(Entry::cuCtxSetCurrent);
  if (result != kDriverSuccess) return result;
  ContextStack& stack = context_stack();
  if (stack.depth > 0) --stack.depth;
  if (context != nullptr) stack.entries[stack.depth++] = static_cast<Context*>(context);
  return kDriverSuccess;
}

DriverResult cuCtxPushCurrent_v2(DriverContext context) {
  const DriverResult result = enter(Entry::cuCtxPushCurrent_v2);
  if (result != kDriverSuccess) return result;
  Context* pushed = static_cast<Context*>(context);
  if (pushed == nullptr || !pushed->alive) return kDriverInvalidContext;
  ContextStack& stack = context_stack();
  if (stack.depth == ContextStack::kCapacity) return kDriverOutOfMemory;
  stack.entries[stack.depth++] = pushed;
  return kDriverSuccess;
}

DriverResult cuCtxPopCurrent_v2(DriverContext* context) {
  const DriverResult result = enter(Entry::cuCtxPopCurrent_v2);
  if (result != kDriverSuccess) return result;
  ContextStack& stack = context_stack();
  if (stack.depth == 0) return kDriverInvalidContext;
  *context = stack.entries[--stack.depth];
  return kDriverSuccess;
}

DriverResult cuCtxGetDevice(DeviceHandle* device) {
  Context* current = nullptr;
  const DriverResult result = enter(Entry::cuCtxGetDevice, current);
  if (result == kDriverSuccess) *device = current->device;
  return result;
}

DriverResult cuCtxSynchronize() {
  Context* current = nullptr;
  const DriverResult result = enter(Entry::cuCtxSynchronize, current);
  return result != kDriverSuccess ? result : refuse_while_capturing();
}

DriverResult cuStreamCreate(DriverStream* stream, unsigned) {
  Context* current = nullptr;
  const DriverResult result = enter(Entry::cuStreamCreate, current);
  if (result != kDriverSuccess) return result;
  const std::lock_guard lock(state().mutex);
  state().streams.push_back(std::make_unique<Stream>());
  state().streams.back()->context = current;
  *stream = state().streams.back().get();
  return kDriverSuccess;
}

DriverResult cuStreamDestroy_v2(DriverStream stream) {
  const DriverResult result = enter(Entry::cuStreamDestroy_v2);
  if (result != kDriverSuccess) return result;
  Stream* object = explicit_stream(stream);
  if (object == nullptr || !object->alive.exchange(false)) return kDriverInvalidHandle;
  return kDriverSuccess;
}

DriverResult cuStreamSynchronize(DriverStream stream) {
  const DriverResult result = enter(Entry::cuStreamSynchronize);
  if (result != kDriverSuccess) return result;
  const DriverResult health = context_result(context_of(stream));
  return health != kDriverSuccess ? health : refuse_while_capturing();
}

DriverResult cuStreamGetCtx(DriverStream stream, DriverContext* context) {
  const DriverResult result = enter(Entry::cuStreamGetCtx);
  if (result != kDriverSuccess) return result;
  Context* owner = context_of(stream);
  *context = owner;
  return owner == nullptr ? kDriverInvalidContext : kDriverSuccess;
}

DriverResult cuStreamIsCapturing(DriverStream stream, CaptureStatus* status) {
  const DriverResult result = enter(Entry::cuStreamIsCapturing);
  if (result != kDriverSuccess) return result;
  const Stream* object = explicit_stream(stream);
  const bool capturing = object != nullptr && object->capturing;
  *status = capturing ? CaptureStatus::kActive : CaptureStatus::kNone;
  return kDriverSuccess;
}

DriverResult cuEventCreate(DriverEvent* event, unsigned) {
  Context* current = nullptr;
  const DriverResult result = enter(Entry::cuEventCreate, current);
  if (result != kDriverSuccess) return result;
  const std::lock_guard lock(state().mutex);
  state().events.push_back(std::make_unique<Event>());
  state().events.back()->context = current;
  *event = state().events.back().get();
  return kDriverSuccess;
}

DriverResult cuEventDestroy_v2(DriverEvent) {
  return enter(Entry::cuEventDestroy_v2);
}

DriverResult cuEventRecord(DriverEvent event, DriverStream stream) {
  const DriverResult result = enter(Entry::cuEventRecord);
  if (result != kDriverSuccess) return result;
  Context* context = context_of(stream);
  const DriverResult health = context_result(context);
  if (health != kDriverSuccess) return health;
  Event* object = static_cast<Event*>(event);
  if (object->context != context) return kDriverInvalidHandle;
  const std::lock_guard lock(state().launch_mutex);
  object->seconds = context->clock_seconds;
  return kDriverSuccess;
}

DriverResult cuEventElapsedTime(float* milliseconds, DriverEvent start, DriverEvent end) {
  const DriverResult result = enter(Entry::cuEventElapsedTime);
  if (result != kDriverSuccess) return result;
  const std::lock_guard lock(state().launch_mutex);
  const double from = static_cast<Event*>(start)->seconds;
  const double to = static_cast<Event*>(end)->seconds;
  if (from < 0 || to < 0) return kDriverInvalidHandle;
  *milliseconds = static_cast<float>((to - from) * 1e3);
  return kDriverSuccess;
}
