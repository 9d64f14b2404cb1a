#include "tests/fake_driver/state.hpp"

#include <cstdint>

namespace heddle::fake {
namespace {

DriverResult take_fault(Entry entry) {
  State& fake = state();
  const DriverResult global = fake.global_fault;
  if (global != kDriverSuccess) return global;
  const std::lock_guard lock(fake.mutex);
  Fault& fault = fake.faults[static_cast<std::size_t>(entry)];
  if (fault.countdown == 0 || --fault.countdown > 0) return kDriverSuccess;
  return fault.code;
}

bool works_before_init(Entry entry) {
  return entry == Entry::cuInit || entry == Entry::cuDriverGetVersion ||
         entry == Entry::cuGetErrorName || entry == Entry::cuGetErrorString;
}

}  // namespace

State& state() {
  static State* const instance = new State;
  return *instance;
}

int entry_of(const std::string& symbol) {
  static constexpr const char* kNames[] = {
#define HEDDLE_FAKE_NAME(member, name, ...) #name,
      HEDDLE_DRIVER_ENTRY_POINTS(HEDDLE_FAKE_NAME)
#undef HEDDLE_FAKE_NAME
  };
  int index = 0;
  while (index < kEntryCount && symbol != kNames[index]) ++index;
  return index;
}

DriverResult enter(Entry entry) {
  State& fake = state();
  fake.calls[static_cast<std::size_t>(entry)].fetch_add(1, std::memory_order_relaxed);
  if (fake.faults_armed.load(std::memory_order_acquire)) {
    const DriverResult injected = take_fault(entry);
    if (injected != kDriverSuccess) return injected;
  }
  if (!fake.initialized.load(std::memory_order_relaxed) && !works_before_init(entry)) {
    return kDriverNotInitialized;
  }
  return kDriverSuccess;
}

DriverResult enter(Entry entry, Context*& current) {
  const DriverResult result = enter(entry);
  if (result != kDriverSuccess) return result;
  current = current_context();
  return context_result(current);
}

DriverResult refuse_while_capturing() {
  return state().capturing_streams > 0 ? kDriverStreamCaptureUnsupported : kDriverSuccess;
}

bool Module::unload() {
  for (const auto& function : functions) function->alive = false;
  return alive.exchange(false);
}

ContextStack& context_stack() {
  thread_local ContextStack stack{};
  return stack;
}

Context* current_context() {
  return context_stack().top();
}

DriverResult context_result(const Context* context) {
  if (context == nullptr || !context->alive) return kDriverInvalidContext;
  return context->sticky;
}

Stream* explicit_stream(DriverStream stream) {
  constexpr std::uintptr_t kPerThreadStream = 2;
  if (reinterpret_cast<std::uintptr_t>(stream) <= kPerThreadStream) return nullptr;
  return static_cast<Stream*>(stream);
}

}  // namespace heddle::fake
