#include "tests/gpu/cases/small_kernels.hpp"

#include <vector>

#include "generator/error.hpp"

namespace heddle {
namespace {

constexpr const char* kSource = R"(// Helpers of the tests on a GPU.
typedef unsigned long long Word;
typedef unsigned int uint;

inline Word mixed(Word x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Four 16-bit uniforms, summed: variance 1 by the factor sqrt(12 / 4).
inline float nearly_normal(Word seed, Word place) {
  const Word bits = mixed(seed * 0x2545f4914f6cdd1dull + mixed(place));
  const uint sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  return (sum * (1.0f / 65536) - 2.0f) * 1.7320508f;
}

inline Word first() { return blockIdx.x * (Word)blockDim.x + threadIdx.x; }
inline Word step() { return gridDim.x * (Word)blockDim.x; }

inline Word nanoseconds() {
  Word now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

inline void wait(Word span) {
  const Word start = nanoseconds();
  while (nanoseconds() - start < span) {
  }
}

extern "C" __global__ void fill_normal(unsigned short* out, Word count, Word seed, int is_fp16) {
  for (Word i = first(); i < count; i += step()) {
    const float value = nearly_normal(seed, i);
    unsigned short bits;
    if (is_fp16) {
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    } else {
      asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    }
    out[i] = bits;
  }
}

extern "C" __global__ void count_different(const uint* left, const uint* right, Word count,
                                           Word* counter) {
  Word different = 0;
  for (Word i = first(); i < count; i += step()) different += left[i] != right[i];
  if (different != 0) atomicAdd(counter, different);
}

extern "C" __global__ void count_poisoned(const unsigned short* elements, Word count,
                                          Word* counter) {
  Word poisoned = 0;
  for (Word i = first(); i < count; i += step()) poisoned += elements[i] == 0xffff;
  if (poisoned != 0) atomicAdd(counter, poisoned);
}

extern "C" __global__ void copy_late(uint* to, const uint* from, Word count, Word span) {
  wait(span);
  for (Word i = first(); i < count; i += step()) to[i] = from[i];
}

extern "C" __global__ void burn(Word span) { wait(span); }
extern "C" __global__ void hold(Word span) { wait(span); }
)";

constexpr unsigned kThreads = 256;
constexpr unsigned kManyBlocks = 2048;
constexpr std::size_t kWordBytes = 4;

std::uint64_t in_nanoseconds(double seconds) {
  return static_cast<std::uint64_t>(seconds * 1e9);
}

}  // namespace

SmallKernels::SmallKernels(Gpu& gpu) : gpu_(gpu) {
  KernelSource source;
  source.entry = "fill_normal";
  source.architecture = gpu.limits().architecture;
  source.main = {"small_kernels.cu", kSource};
  const auto output = gpu.compiler().nvrtc().compile(source, compile_options(source.architecture));
  if (output.status != 0) throw Error(ErrorCode::kCompileFailed, output.log);
  gpu.check(gpu.api().cuModuleLoadData(&module_, output.cubin.data()), "cuModuleLoadData");
}

SmallKernels::~SmallKernels() {
  gpu_.api().cuModuleUnload(module_);
}

void SmallKernels::launch(const char* name, const Grid& grid,
                          std::initializer_list<void*> arguments) const {
  DriverFunction function = nullptr;
  gpu_.check(gpu_.api().cuModuleGetFunction(&function, module_, name), "cuModuleGetFunction");
  if (grid.shared_bytes > 0) {
    gpu_.check(gpu_.api().cuFuncSetAttribute(function, FunctionAttribute::kMaxDynamicSharedBytes,
                                             static_cast<int>(grid.shared_bytes)),
               "cuFuncSetAttribute");
  }
  std::vector<void*> list(arguments);
  gpu_.check(gpu_.api().cuLaunchKernel(function, grid.blocks, 1, 1, kThreads, 1, 1,
                                       grid.shared_bytes, grid.stream, list.data(), nullptr),
             name);
}

void SmallKernels::fill_normal(void* elements, std::size_t count, const Normal& kind) const {
  std::uint64_t seed = kind.seed;
  int is_fp16 = kind.dtype == DataType::kFp16 ? 1 : 0;
  launch("fill_normal", {kManyBlocks, nullptr}, {&elements, &count, &seed, &is_fp16});
  gpu_.wait_for(nullptr);
}

void SmallKernels::count_different(const void* left, const void* right, std::size_t bytes,
                                   void* counter, DriverStream stream) const {
  std::uint64_t words = bytes / kWordBytes;
  launch("count_different", {kManyBlocks, stream}, {&left, &right, &words, &counter});
}

std::uint64_t SmallKernels::count_poisoned(const void* elements, std::size_t count) const {
  const DeviceCounter counter(gpu_);
  void* data = counter.data();
  launch("count_poisoned", {kManyBlocks, nullptr}, {&elements, &count, &data});
  return counter.value();
}

void SmallKernels::copy_late(void* to, const void* from, std::size_t bytes, double seconds,
                             DriverStream stream) const {
  std::uint64_t words = bytes / kWordBytes;
  std::uint64_t span = in_nanoseconds(seconds);
  launch("copy_late", {1, stream}, {&to, &from, &words, &span});
}

void SmallKernels::burn(double seconds, DriverStream stream) const {
  std::uint64_t span = in_nanoseconds(seconds);
  launch("burn", {kManyBlocks, stream}, {&span});
}

void SmallKernels::hold(int multiprocessors, double seconds, DriverStream stream) const {
  std::uint64_t span = in_nanoseconds(seconds);
  const auto shared_bytes = static_cast<unsigned>(gpu_.limits().shared_bytes_per_block);
  launch("hold", {static_cast<unsigned>(multiprocessors), stream, shared_bytes}, {&span});
}

}  // namespace heddle
