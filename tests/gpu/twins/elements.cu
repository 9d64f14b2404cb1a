// Conversions and bit patterns. 256 threads go over the input.
#include "arguments.cuh"
#include "instruction/byte_permute.cuh"
#include "instruction/e4m3.cuh"
#include "instruction/thread.cuh"

#define KERNEL(name) \
  extern "C" __global__ void name(const __grid_constant__ KernelArguments arguments)

using heddle::BFloat16;
using heddle::E4M3;
using heddle::Half;

template <class Act>
inline void for_each(const KernelArguments& arguments, Act act) {
  for (int i = heddle::thread_index(); i < arguments.numbers[0]; i += 256) act(i);
}
inline float float_at(const KernelArguments& arguments, int i) {
  return static_cast<const float*>(arguments.pointers[0])[i];
}
inline unsigned word_at(const KernelArguments& arguments, int i) {
  return static_cast<const unsigned*>(arguments.pointers[0])[i];
}
inline unsigned* output(const KernelArguments& arguments) {
  return static_cast<unsigned*>(arguments.pointers[1]);
}

/// numbers[0] = pairs of floats.
template <class Element>
inline void narrow(const KernelArguments& arguments) {
  for_each(arguments, [&](int i) {
    const float low = float_at(arguments, 2 * i), high = float_at(arguments, 2 * i + 1);
    output(arguments)[i] =
        heddle::pack(low, high, Element{}) & (sizeof(Element) == 1 ? 0xffffu : ~0u);
  });
}
KERNEL(narrow_bf16) {
  narrow<BFloat16>(arguments);
}
KERNEL(narrow_fp16) {
  narrow<Half>(arguments);
}
KERNEL(narrow_e4m3) {
  narrow<E4M3>(arguments);
}
KERNEL(narrow_four) {
  for_each(arguments, [&](int i) {
    output(arguments)[i] =
        heddle::pack(float_at(arguments, 4 * i), float_at(arguments, 4 * i + 1),
                     float_at(arguments, 4 * i + 2), float_at(arguments, 4 * i + 3), E4M3{});
  });
}

/// numbers[0] = floats.
template <class Element>
inline void narrow_one(const KernelArguments& arguments) {
  for_each(arguments, [&](int i) {
    output(arguments)[i] = heddle::from_float<Element>(float_at(arguments, i)).bits;
  });
}
KERNEL(narrow_one_bf16) {
  narrow_one<BFloat16>(arguments);
}
KERNEL(narrow_one_fp16) {
  narrow_one<Half>(arguments);
}
KERNEL(narrow_one_e4m3) {
  narrow_one<E4M3>(arguments);
}

/// numbers[0] = how many patterns, from 0 on; four words for each.
template <class Element>
inline void widen(const KernelArguments& arguments) {
  for_each(arguments, [&](int i) {
    const auto bits = static_cast<unsigned>(i);
    const Element element{static_cast<decltype(Element::bits)>(bits)};
    float low, high;
    heddle::unpack<Element>(bits * 0x0101u, low, high);
    unsigned* out = output(arguments) + 4 * i;
    out[0] = __float_as_uint(heddle::to_float(element));
    out[1] = heddle::is_finite(element);
    out[2] = __float_as_uint(low);
    out[3] = __float_as_uint(high);
  });
}
KERNEL(widen_bf16) {
  widen<BFloat16>(arguments);
}
KERNEL(widen_fp16) {
  widen<Half>(arguments);
}
KERNEL(widen_e4m3) {
  widen<E4M3>(arguments);
}
KERNEL(to_halves) {
  for_each(arguments, [&](int i) {
    output(arguments)[i] = heddle::to_half2(static_cast<unsigned>(i) * 0x0101u ^ 0x3c00u, E4M3{});
  });
}

/// numbers[0] = how many patterns, from 0 on; two words for each: in the low half, then after it
/// in the high one.
template <class Element>
inline void note(const KernelArguments& arguments) {
  for_each(arguments, [&](int i) {
    const auto bits = static_cast<unsigned>(i);
    const unsigned low = heddle::note_nonfinite(0u, bits, Element{});
    output(arguments)[2 * i] = low;
    output(arguments)[2 * i + 1] = heddle::note_nonfinite(low, (bits ^ 0x155u) << 16, Element{});
  });
}
KERNEL(note_bf16) {
  note<BFloat16>(arguments);
}
KERNEL(note_fp16) {
  note<Half>(arguments);
}

/// Three words for each result.
KERNEL(bytes_permuted) {
  for_each(arguments, [&](int i) {
    output(arguments)[i] =
        heddle::byte_permute(word_at(arguments, 3 * i), word_at(arguments, 3 * i + 1),
                             word_at(arguments, 3 * i + 2) & 0x7777u);
  });
}
