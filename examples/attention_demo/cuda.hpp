#pragma once
// The few driver functions this demo needs, so that no CUDA toolkit is. A real program has its own
// device memory and skips this file: heddle takes any device pointer and any stream.

#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>

struct Cuda {
  int (*init)(unsigned);
  int (*retain)(void** context, int device);
  int (*set_current)(void* context);
  int (*allocate)(unsigned long long* pointer, std::size_t bytes);
  int (*upload)(unsigned long long target, const void* source, std::size_t bytes);
  int (*download)(void* target, unsigned long long source, std::size_t bytes);
  int (*synchronize)();

  /// Loads the driver and makes device 0's context current; false where there is none.
  bool start() {
    const char* path = std::getenv("HEDDLE_CUDA_DRIVER");
    void* library = dlopen(path != nullptr ? path : "libcuda.so.1", RTLD_NOW);
    if (library == nullptr) return false;
    find(library, "cuInit", init);
    find(library, "cuDevicePrimaryCtxRetain", retain);
    find(library, "cuCtxSetCurrent", set_current);
    find(library, "cuMemAlloc_v2", allocate);
    find(library, "cuMemcpyHtoD_v2", upload);
    find(library, "cuMemcpyDtoH_v2", download);
    find(library, "cuCtxSynchronize", synchronize);
    void* context = nullptr;
    return init(0) == 0 && retain(&context, 0) == 0 && set_current(context) == 0;
  }

 private:
  template <class Function>
  static void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
  }
};
