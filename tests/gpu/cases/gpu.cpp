#include "tests/gpu/cases/gpu.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "generator/error.hpp"

namespace heddle {
namespace {

Compiler::Options compiler_options(const std::vector<std::string>& extra) {
  Compiler::Options options;
  options.extra_options = extra;
  if (const char* cache = std::getenv("HEDDLE_CACHE")) options.cache.path = cache;
  return options;
}

}  // namespace

std::uint64_t test_seed() {
  const char* text = std::getenv("HEDDLE_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

Gpu::Gpu(const std::vector<std::string>& options)
    : device_(Driver::load(""), 0), compiler_(compiler_options(options)) {
  device_.make_current();
}

void* Gpu::find_entry(const char* symbol) const {
  void* library = dlopen(device_.driver().library_path().c_str(), RTLD_NOW);
  void* found = library == nullptr ? nullptr : dlsym(library, symbol);
  if (found != nullptr) return found;
  throw Error(ErrorCode::kDriverError, std::string("the driver has no ") + symbol);
}

void Gpu::copy_on_device(void* to, const void* from, std::size_t bytes, DriverStream stream) const {
  using Copy = DriverResult(DevicePointer, DevicePointer, std::size_t, DriverStream);
  auto* copy = entry<Copy>("cuMemcpyDtoDAsync_v2");
  check(copy(device_address(to), device_address(from), bytes, stream), "cuMemcpyDtoDAsync");
}

void Gpu::poison(void* data, std::size_t bytes, DriverStream stream) const {
  using Fill = DriverResult(DevicePointer, unsigned char, std::size_t, DriverStream);
  check(entry<Fill>("cuMemsetD8Async")(device_address(data), 0xff, bytes, stream),
        "cuMemsetD8Async");
}

void Gpu::wait_for(DriverStream stream) const {
  check(api().cuStreamSynchronize(stream), "cuStreamSynchronize");
}

NonBlockingStream::NonBlockingStream(const Driver::Api& api) : api_(api) {
  check_driver(api, api.cuStreamCreate(&stream_, kStreamNonBlocking), "cuStreamCreate");
}

NonBlockingStream::~NonBlockingStream() {
  api_.cuStreamDestroy(stream_);
}

}  // namespace heddle
