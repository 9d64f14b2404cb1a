// Scalar arithmetic. 256 threads go over numbers[0] floats.
#include "arguments.cuh"
#include "instruction/math.cuh"
#include "instruction/precise_math.cuh"
#include "instruction/thread.cuh"

template <class Act>
inline void map(const KernelArguments& arguments, Act act) {
  const auto* in = static_cast<const float*>(arguments.pointers[0]);
  auto* out = static_cast<float*>(arguments.pointers[1]);
  for (int i = heddle::thread_index(); i < arguments.numbers[0]; i += 256) out[i] = act(in, i);
}

#define KERNEL(name, value)                                                            \
  extern "C" __global__ void name(const __grid_constant__ KernelArguments arguments) { \
    map(arguments, [](const float* in, int i) { return value; });                      \
  }
KERNEL(power, heddle::fast_exp2(in[i]))
KERNEL(logarithm, heddle::fast_log2(in[i]))
KERNEL(natural, heddle::natural_log(in[i]))
KERNEL(reciprocal, heddle::fast_reciprocal(in[i]))
KERNEL(larger, heddle::maximum(in[i], in[i ^ 1]))
KERNEL(exact_exp, heddle::precise_exp(in[i]))
KERNEL(exact_log, heddle::precise_log(in[i]))
KERNEL(double_exp, static_cast<float>(heddle::precise_exp(static_cast<double>(in[i]))))
KERNEL(double_log, static_cast<float>(heddle::precise_log(static_cast<double>(in[i]))))
