#pragma once
// A compile that has nothing of heddle in it: what a machine takes for it says how fast the machine
// is at the moment, for work of the kind that NVRTC does on a kernel of ours.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "runtime/compiler.hpp"

namespace heddle {

/// Templates, unrolled loops, tensor-core products and 202 registers on sm_90a, no spill. Any
/// change here moves the limit of who divides by it.
inline constexpr const char* kYardstickText = R"cuda(
template <int kColumnCount>
struct Row {
  float value[kColumnCount][4];
};

inline void multiply(float (&d)[4], const unsigned (&a)[4], unsigned left, unsigned right) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(left), "r"(right));
}

template <int kColumns, class Visit>
inline void for_each(Row<kColumns>& row, Visit visit) {
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
#pragma unroll
    for (int i = 0; i < 4; ++i) visit(c, i, row.value[c][i]);
  }
}

template <int kDepth, int kColumns>
inline void product(Row<kColumns>& row, const unsigned* words) {
#pragma unroll
  for (int depth = 0; depth < kDepth; ++depth) {
    unsigned a[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) a[i] = words[128 * depth + 32 * i];
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const unsigned* b = words + 4096 + (depth * kColumns + c) * 64;
      multiply(row.value[c], a, b[0], b[32]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(128) yardstick(const unsigned* in, float* out, int n) {
  extern __shared__ unsigned shared[];
  const unsigned* words = shared + threadIdx.x % 32;
  Row<16> sum;
  for_each(sum, [](int, int, float& x) { x = 0.0f; });
#pragma unroll 1
  for (int block = 0; block < n; ++block) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 64; ++i) {
      shared[i * 128 + threadIdx.x] = in[(block * 64 + i) * 128 + threadIdx.x];
    }
    __syncthreads();
    Row<8> part;
    for_each(part, [](int, int, float& x) { x = 0.0f; });
    product<4>(part, words);
    float top = -1e30f;
    for_each(part, [&](int, int, float& x) { top = x > top ? x : top; });
    for_each(part, [&](int, int, float& x) { x = exp2f(x - top); });
    for_each(sum, [&](int c, int i, float& x) { x = x * top + part.value[c / 2][i]; });
    product<8>(sum, words);
  }
  for_each(sum, [&](int c, int i, float& x) {
    out[(blockIdx.x * 16 + c) * 512 + 128 * i + threadIdx.x] = x;
  });
}
)cuda";

/// Processor time of that compile in a process of its own, as the `heddle` command is one: the
/// first use of NVRTC in a process costs more than the next.
inline double yardstick_seconds(const Nvrtc& nvrtc) {
  KernelSource source;
  source.main = {"yardstick.cu", kYardstickText};
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) _exit(nvrtc.compile(source, compile_options("sm_90a")).status == 0 ? 0 : 1);
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child) throw std::runtime_error("wait4 failed");
  if (status != 0) throw std::runtime_error("the yardstick does not compile");
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace heddle
