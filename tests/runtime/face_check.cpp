// The C++17 face with exceptions off and hidden visibility, as a consumer's program: built in the
// tree and, by the C93 tests, against the installed package. argv: fake driver, folder of an NVRTC.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <heddle/heddle.hpp>

#if __cpp_exceptions
#error "this check is about -fno-exceptions"
#endif

namespace {

int failures = 0;

void check(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s\n", what);
  ++failures;
}

/// The fake driver's own controls give a context without any CUDA header.
void* make_context_current(const char* driver) {
  void* library = dlopen(driver, RTLD_NOW);
  if (library == nullptr) return nullptr;
  const auto create = reinterpret_cast<void* (*)(int)>(dlsym(library, "fake_cuda_create_context"));
  const auto set_current = reinterpret_cast<int (*)(void*)>(dlsym(library, "cuCtxSetCurrent"));
  const auto allocate =
      reinterpret_cast<int (*)(unsigned long long*, std::size_t)>(dlsym(library, "cuMemAlloc_v2"));
  reinterpret_cast<int (*)(unsigned)>(dlsym(library, "cuInit"))(0);
  set_current(create(0));
  unsigned long long memory = 0;
  allocate(&memory, std::size_t{1} << 20);
  return reinterpret_cast<void*>(memory);
}

heddle::Problem decode_problem() {
  heddle::Problem problem;
  problem.batch = 1;
  problem.heads = 4;
  problem.seqlen_q = 1;
  problem.seqlen_kv = 128;
  problem.head_dim = 64;
  return problem;
}

void check_serving(heddle::Context& context, void* memory) {
  const heddle::Problem problem = decode_problem();
  std::vector<heddle::PrepareResult> results;
  const heddle::Status prepared = context.prepare({problem, problem}, &results);
  check(prepared.ok(), prepared.message().c_str());
  check(results.size() == 2 && results[1].from_cache == 1, "the second is resident");
  heddle::Arguments arguments;
  arguments.query = arguments.key = arguments.value = arguments.output = memory;
  const auto bytes = context.workspace_bytes(problem, &arguments);
  check(bytes.ok(), "workspace_bytes");
  arguments.workspace = memory;
  arguments.workspace_bytes = *bytes;
  check(context.launch(problem, arguments).ok(), "launch");
  check(context.counters().hot_hits == 1, "one hot hit");
  const auto text = context.explain_choice(problem);
  check(text && text->find("config: family=") != std::string::npos, "explain_choice");
  check(text && std::strlen(text->c_str()) == text->size(), "explain_choice ends with its text");
}

void check_errors(heddle::Context& context) {
  heddle::Problem problem = decode_problem();
  problem.head_dim = 100;
  const heddle::Status status = context.prepare({problem});
  check(status.code() == HEDDLE_INVALID_ARGUMENT && !status, "head_dim 100 is refused");
  check(status.field() == "head_dim", "the field is named");
  check(status.name() == std::string("HEDDLE_INVALID_ARGUMENT"), "the status is named");
  heddle::Options options;
  options.driver_path = "/nonexistent/libcuda.so.1";
  const auto none = heddle::Context::create(options);
  check(!none && none.status().code() == HEDDLE_DRIVER_MISSING, "a missing driver is told");
  check(!none.status().message().empty(), "with a message");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  void* memory = make_context_current(argv[1]);
  heddle::Options options;
  options.driver_path = argv[1];
  options.nvrtc_path = argv[2];
  options.flags = HEDDLE_NO_DATABASE;
  auto created = heddle::Context::create(options);
  check(created.ok(), created.status().message().c_str());
  if (!created) return 1;
  heddle::Context context = std::move(*created);
  check_serving(context, memory);
  check_errors(context);
  if (failures == 0) std::puts("the C++ face works without exceptions");
  return failures == 0 ? 0 : 1;
}
