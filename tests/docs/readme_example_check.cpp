// The README's example against the fake driver, built as a consumer's C++17.
// argv: fake driver, folder of an NVRTC.
#include <dlfcn.h>

#include <cstdio>

#include "examples/readme.cpp"

namespace {

void* fake_driver = nullptr;

template <class Function>
Function* driver_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(fake_driver, name));
}

void* allocate(std::size_t bytes) {
  unsigned long long pointer = 0;
  driver_function<int(unsigned long long*, std::size_t)>("cuMemAlloc_v2")(&pointer, bytes);
  return reinterpret_cast<void*>(pointer);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  fake_driver = dlopen(argv[1], RTLD_NOW);
  if (fake_driver == nullptr) return 2;
  driver_function<int(unsigned)>("cuInit")(0);
  driver_function<int(void*)>("cuCtxSetCurrent")(
      driver_function<void*(int)>("fake_cuda_create_context")(0));

  heddle::Options options;
  options.driver_path = argv[1];
  options.nvrtc_path = argv[2];
  options.flags = HEDDLE_NO_DATABASE;
  auto context = heddle::Context::create(options);
  if (!context) return std::puts(context.status().message().c_str()), 1;

  heddle::Arguments tensors;
  const std::size_t tensor_bytes = std::size_t{32} * 4096 * 128 * 2;
  tensors.query = allocate(tensor_bytes);
  tensors.key = allocate(tensor_bytes);
  tensors.value = allocate(tensor_bytes);
  tensors.output = allocate(tensor_bytes);
  for (const int length : {1000, 4096}) {
    const heddle::Status status = attend(*context, length, tensors, allocate, nullptr);
    if (!status) return std::puts(status.message().c_str()), 1;
  }
  const long long launches = driver_function<long long()>("fake_cuda_launch_count")();
  std::printf("%lld launches\n", launches);
  return launches >= 2 ? 0 : 1;
}
