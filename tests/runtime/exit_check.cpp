// Ways for a process to end while heddle is in use: none may crash, hang or print.
// argv: way, fake driver, folder of an NVRTC, libheddle.so.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <heddle/heddle.hpp>
#include <memory>
#include <stdexcept>
#include <thread>

namespace {

void* driver = nullptr;

template <class Function>
Function driver_function(const char* name) {
  return reinterpret_cast<Function>(dlsym(driver, name));
}

/// Destroyed after main, like a framework's global that holds our handle.
struct Holder {
  std::unique_ptr<heddle::Context> context;
};
Holder holder;

bool use(const char* driver_path, const char* nvrtc_path) {
  driver = dlopen(driver_path, RTLD_NOW);
  if (driver == nullptr) return false;
  driver_function<int (*)(unsigned)>("cuInit")(0);
  driver_function<int (*)(void*)>("cuCtxSetCurrent")(
      driver_function<void* (*)(int)>("fake_cuda_create_context")(0));
  heddle::Options options;
  options.driver_path = driver_path;
  options.nvrtc_path = nvrtc_path;
  options.flags = HEDDLE_NO_DATABASE;
  auto created = heddle::Context::create(options);
  if (!created) return false;
  holder.context = std::make_unique<heddle::Context>(std::move(*created));
  heddle::Problem problem;
  problem.batch = problem.heads = 1;
  problem.seqlen_q = problem.seqlen_kv = 64;
  problem.head_dim = 64;
  return holder.context->prepare({problem}).ok();
}

/// What the driver answers once its own static state is gone.
void shut_driver_down() {
  driver_function<void (*)(int)>("fake_cuda_fail_all")(4);
}

void dlclose_while_used(const char* library_path) {
  void* library = dlopen(library_path, RTLD_NOW | RTLD_LOCAL);
  const auto last_error =
      reinterpret_cast<const char* (*)(const heddle_context*)>(dlsym(library, "heddle_last_error"));
  const auto launch = reinterpret_cast<decltype(&heddle_launch)>(dlsym(library, "heddle_launch"));
  std::thread([&] {
    launch(nullptr, nullptr, nullptr, nullptr);  // leaves a last error in this thread
    dlclose(library);
    if (std::strlen(last_error(nullptr)) == 0) std::abort();
  }).join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const std::string way = argv[1];
  if (way == "throw") {
    try {
      if (!use(argv[2], argv[3])) return 1;
      throw std::runtime_error("out of the middle");
    } catch (const std::exception&) {
      return 7;
    }
  }
  if (!use(argv[2], argv[3])) return 1;
  if (way == "return") return 7;
  if (way == "driver_first") shut_driver_down();
  if (way == "never_destroyed") {
    holder.context.release();
    shut_driver_down();
  }
  if (way == "thread_exit") std::thread([] { std::exit(7); }).join();
  if (way == "context_gone") {
    void* current = nullptr;
    driver_function<int (*)(void**)>("cuCtxGetCurrent")(&current);
    driver_function<void (*)(void*)>("fake_cuda_destroy_context")(current);
  }
  if (way == "dlclose") dlclose_while_used(argv[4]);
  return 7;
}
