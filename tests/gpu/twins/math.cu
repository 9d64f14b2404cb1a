// Scalar arithmetic. 256 threads go over numbers[0] floats.
#include "arguments.cuh"
#include "instruction/math.cuh"
#include "instruction/opaque.cuh"
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
KERNEL(fused, heddle::multiply_add(in[i], in[i ^ 1], in[i ^ 2]))
KERNEL(product, heddle::rounded_product(in[i], in[i ^ 1]))
KERNEL(magnitude, heddle::magnitude(in[i]))
KERNEL(larger, heddle::maximum(in[i], in[i ^ 1]))
KERNEL(exact_exp, heddle::precise_exp(in[i]))
KERNEL(exact_log, heddle::precise_log(in[i]))
KERNEL(double_exp, static_cast<float>(heddle::precise_exp(static_cast<double>(in[i]))))
KERNEL(double_log, static_cast<float>(heddle::precise_log(static_cast<double>(in[i]))))

// The input holds pairs of ints, the second positive; six words for each.
extern "C" __global__ void integers(const __grid_constant__ KernelArguments arguments) {
  const auto* in = static_cast<const int*>(arguments.pointers[0]);
  for (int i = heddle::thread_index(); i < arguments.numbers[0]; i += 256) {
    const int a = in[2 * i], b = in[2 * i + 1];
    auto* out = static_cast<unsigned*>(arguments.pointers[1]) + 6 * i;
    out[0] = static_cast<unsigned>(heddle::minimum(a, b));
    out[1] = static_cast<unsigned>(heddle::maximum(a, b));
    out[2] = static_cast<unsigned>(heddle::ceil_divide(a & 0x7fffffff, b));
    const long long wide = heddle::opaque(static_cast<long long>(a) * b);
    out[3] = static_cast<unsigned>(wide);
    out[4] = static_cast<unsigned>(wide >> 32);
    out[5] = __float_as_uint(heddle::infinity());
  }
}
