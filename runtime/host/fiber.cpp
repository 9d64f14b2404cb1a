#include "runtime/host/fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <optional>
#include <system_error>

#include <boost/context/fiber.hpp>

#if defined(__SANITIZE_ADDRESS__)
#define HEDDLE_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEDDLE_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef HEDDLE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace heddle {
namespace {

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// Hands a stack of the pool to Boost and takes no care of it afterwards.
struct BorrowedStack {
  void deallocate(boost::context::stack_context&) const {}
};

/// What the address sanitizer wants to hear: which stack is left, which one is entered.
struct SwitchNotes {
  void* fake_stack = nullptr;
  const void* bottom = nullptr;
  std::size_t bytes = 0;
};

void leave(SwitchNotes* from, const SwitchNotes& to) {
#ifdef HEDDLE_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(from ? &from->fake_stack : nullptr, to.bottom, to.bytes);
#else
  static_cast<void>(from), static_cast<void>(to);
#endif
}
void arrive(const SwitchNotes* back_on, SwitchNotes* came_from) {
#ifdef HEDDLE_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(back_on ? back_on->fake_stack : nullptr,
                                  came_from ? &came_from->bottom : nullptr,
                                  came_from ? &came_from->bytes : nullptr);
#else
  static_cast<void>(back_on), static_cast<void>(came_from);
#endif
}

}  // namespace

StackPool::StackPool(int count, std::size_t bytes)
    : count_(count),
      bytes_((bytes + page_bytes() - 1) / page_bytes() * page_bytes()),
      pitch_(bytes_ + page_bytes()),
      memory_(nullptr) {
  void* memory = mmap(nullptr, pitch_ * static_cast<std::size_t>(count), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<char*>(memory);
  for (int i = 0; i < count; ++i) mprotect(low(i) - page_bytes(), page_bytes(), PROT_NONE);
}

StackPool::~StackPool() {
  munmap(memory_, pitch_ * static_cast<std::size_t>(count_));
}

char* StackPool::low(int index) const {
  return memory_ + pitch_ * static_cast<std::size_t>(index) + page_bytes();
}

struct Fiber::State {
  // Two fibers that take turns: `inside` is where the body goes on, `outside` where resume() was
  // called. An abandoned `inside` is never destroyed: Boost would unwind a body that has no unwind
  // tables.
  alignas(boost::context::fiber) unsigned char inside[sizeof(boost::context::fiber)];
  boost::context::fiber outside;
  std::function<void()> body;
  bool done = true;
  SwitchNotes own;
  SwitchNotes caller;

  boost::context::fiber& inner() {
    return *std::launder(reinterpret_cast<boost::context::fiber*>(inside));
  }
};

Fiber::Fiber() : state_(std::make_unique<State>()) {}
Fiber::~Fiber() = default;
Fiber::Fiber(Fiber&&) noexcept = default;

void Fiber::start(char* stack_low, std::size_t stack_bytes, std::function<void()> body) {
  State& state = *state_;
#ifdef HEDDLE_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(stack_low, stack_bytes);  // what an abandoned body left behind
#endif
  state.body = std::move(body);
  state.done = false;
  state.own = {nullptr, stack_low, stack_bytes};
  boost::context::stack_context stack;
  stack.size = stack_bytes;
  stack.sp = stack_low + stack_bytes;
  new (state.inside) boost::context::fiber(
      std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack),
      BorrowedStack{}, [&state](boost::context::fiber&& outside) {
        arrive(nullptr, &state.caller);
        state.outside = std::move(outside);
        state.body();
        state.done = true;
        leave(nullptr, state.caller);
        return std::move(state.outside);
      });
}

void Fiber::resume() {
  State& state = *state_;
  SwitchNotes here;
  leave(&here, state.own);
  boost::context::fiber next = std::move(state.inner()).resume();
  arrive(&here, nullptr);
  if (!state.done) state.inner() = std::move(next);
}

void Fiber::suspend() {
  State& state = *state_;
  leave(&state.own, state.caller);
  state.outside = std::move(state.outside).resume();
  arrive(&state.own, &state.caller);
}

bool Fiber::done() const {
  return state_->done;
}

}  // namespace heddle
