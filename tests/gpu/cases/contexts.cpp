// C19: the data's context, or its device, is not the current one.

#include <optional>
#include <thread>

#include <catch2/catch.hpp>

#include "runtime/testing/inputs.hpp"
#include "tests/gpu/cases/api.hpp"
#include "tests/gpu/cases/checks.hpp"
#include "tests/gpu/cases/places.hpp"

namespace heddle {
namespace {

constexpr int kCalls = 20;

DriverContext current_context(const Gpu& gpu) {
  DriverContext current = nullptr;
  gpu.check(gpu.api().cuCtxGetCurrent(&current), "cuCtxGetCurrent");
  return current;
}

void set_current(const Gpu& gpu, DriverContext context) {
  gpu.check(gpu.api().cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

/// Calls in one place while `current` is current; "" if all were right and left it so.
std::string run_calls(const Gpu& gpu, const ContextHandle& context, const Place& place,
                      DriverContext current) {
  set_current(gpu, current);
  for (int i = 0; i < kCalls; ++i) {
    if (std::string wrong = place.run(context); !wrong.empty()) return wrong;
    if (current_context(gpu) != current) return "the current context is another one";
  }
  return "";
}

void check_places(const Gpu& gpu, const Place& here, const Place& there) {
  const DriverContext primary = gpu.device().context();
  const ContextHandle context = create_context();
  REQUIRE(context != nullptr);
  CHECK(run_calls(gpu, context, there, primary) == "");
  CHECK(run_calls(gpu, context, here, there.context()) == "");
  for (int i = 0; i < kCalls; ++i) {
    CHECK(run_calls(gpu, context, i % 2 == 0 ? there : here, primary) == "");
  }
  CHECK(run_calls(gpu, context, there, nullptr) == "");

  std::string left;
  std::string right;
  {
    const std::jthread one([&] { left = run_calls(gpu, context, here, primary); });
    const std::jthread other([&] { right = run_calls(gpu, context, there, there.context()); });
  }
  CHECK(left == "");
  CHECK(right == "");
  set_current(gpu, primary);
}

}  // namespace

TEST_CASE("C19 a stream of a second context on the same device") {
  const Gpu gpu;
  const OwnContext second(gpu, 0);
  const Place here(gpu, gpu.device().context());
  const Place there(gpu, second.get());
  check_places(gpu, here, there);
}

TEST_CASE("C19 a stream of a second device while the first is current") {
  const Gpu gpu;
  if (gpu.device().driver().device_count() < 2) {
    WARN("skipped: needs two devices, this machine has one");
    return;
  }
  const Device device(gpu.device().driver_pointer(), 1);
  const Place here(gpu, gpu.device().context());
  const Place there(gpu, device.context());
  check_places(gpu, here, there);

  const ContextHandle context = create_context();
  REQUIRE(context != nullptr);
  const heddle_arguments good = here.arguments();
  const heddle_arguments far = there.arguments();
  const auto refuse = [&](const char* field, const heddle_arguments& mixed) {
    INFO(field);
    CHECK(here.launch(context, mixed) == HEDDLE_INVALID_ARGUMENT);
    CHECK(std::string(heddle_last_error_field(context.get())) == field);
    CHECK(current_context(gpu) == gpu.device().context());
  };
  const auto replaced = [&](auto member) {
    heddle_arguments mixed = good;
    mixed.*member = far.*member;
    return mixed;
  };
  refuse("query", replaced(&heddle_arguments::query));
  refuse("key", replaced(&heddle_arguments::key));
  refuse("value", replaced(&heddle_arguments::value));
  refuse("output", replaced(&heddle_arguments::output));
  refuse("log_sum_exp", replaced(&heddle_arguments::log_sum_exp));
  refuse("query", far);  // all of the second device, on a stream of the first
  CHECK(here.run(context) == "");
  CHECK(there.run(context) == "");
}

TEST_CASE("C19 no stream and no current context, or a host pointer: refused by name") {
  const Gpu gpu;
  const Place place(gpu, gpu.device().context());
  const ContextHandle context = create_context();
  REQUIRE(context != nullptr);
  const heddle_problem problem = write_problem(Place::problem());

  set_current(gpu, nullptr);
  const heddle_arguments good = place.arguments();
  CHECK(heddle_launch(context.get(), &problem, &good, nullptr) == HEDDLE_DRIVER_ERROR);
  CHECK(std::string(heddle_last_error_field(context.get())) == "stream");
  set_current(gpu, gpu.device().context());

  alignas(16) std::uint16_t on_host[8] = {};
  heddle_arguments arguments = place.arguments();
  arguments.value = on_host;
  CHECK(place.launch(context, arguments) == HEDDLE_INVALID_ARGUMENT);
  CHECK(std::string(heddle_last_error_field(context.get())) == "value");
  CHECK(place.run(context) == "");
}

}  // namespace heddle
