#include "tests/gpu/cases/delayed_source.hpp"

#include <algorithm>

#include "generator/error.hpp"
#include "templates/parameters.cuh"

namespace heddle {
namespace {

// At most 32 us where the kernel begins, and 2 us behind one barrier in four.
constexpr const char* kDelay = R"(
inline unsigned test_draw(unsigned seed) {
  unsigned x = seed ^ (blockIdx.x * 0x9e3779b9u) ^ ((threadIdx.x / 32u) * 0x85ebca6bu);
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}
inline void test_sleep(unsigned nanoseconds) {
  asm volatile("nanosleep.u32 %0;" ::"r"(nanoseconds));
}
inline void test_delay_at_entry(const void* seed) {
  const unsigned number = static_cast<unsigned>(reinterpret_cast<unsigned long long>(seed));
  if (number != 0) test_sleep(test_draw(number) % 32768u);
}
inline void test_delay_at_barrier() {
  unsigned now;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(now));
  const unsigned drawn = test_draw(now >> 6);
  if (drawn % 4u == 0) test_sleep((drawn >> 8) % 2048u);
}
)";

void replace(SourceFile& file, const std::string& text, const std::string& with) {
  const std::size_t place = file.text.find(text);
  if (place == std::string::npos) {
    throw Error(ErrorCode::kInternal, file.name, "no place for a delay in " + file.name);
  }
  file.text.replace(place, text.size(), with);
}

}  // namespace

KernelSource with_delays(KernelSource source) {
  const auto threads =
      std::find_if(source.headers.begin(), source.headers.end(),
                   [](const SourceFile& file) { return file.name == "instruction/thread.cuh"; });
  if (threads == source.headers.end()) {
    throw Error(ErrorCode::kInternal, source.main.name, "thread.cuh is not among the headers");
  }
  replace(*threads, "namespace heddle {\n", std::string("namespace heddle {\n") + kDelay);
  replace(*threads, "  __syncthreads();\n", "  __syncthreads();\n  test_delay_at_barrier();\n");
  const bool is_mapped = source.main.text.find("MappedParameters") != std::string::npos;
  const std::string block = is_mapped ? "parameters.attention" : "parameters";
  replace(source.main, " parameters) {\n",
          " parameters) {\n  heddle::test_delay_at_entry(" + block + ".sinks);\n");
  return source;
}

AttentionParameters with_seed(AttentionParameters parameters, std::uint32_t seed) {
  parameters.sinks = reinterpret_cast<const float*>(static_cast<std::uintptr_t>(seed));
  return parameters;
}

}  // namespace heddle
