#pragma once
// Loads and stores of 2, 4, 8 and 16 bytes. The address is a multiple of the size.

namespace heddle {

/// `kBytes` bytes that travel as one access.
template <int kBytes>
struct Bytes;

template <>
struct alignas(2) Bytes<2> {
  unsigned short value;
};
template <>
struct alignas(4) Bytes<4> {
  unsigned value;
};
template <>
struct alignas(8) Bytes<8> {
  unsigned value[2];
};
template <>
struct alignas(16) Bytes<16> {
  unsigned value[4];
};

template <int kBytes>
inline Bytes<kBytes> load(const void* address) {
  return *static_cast<const Bytes<kBytes>*>(address);
}

template <int kBytes>
inline void store(void* address, const Bytes<kBytes>& bytes) {
  *static_cast<Bytes<kBytes>*>(address) = bytes;
}

/// Zeros where `valid` is false; then the address is not touched.
template <int kBytes>
inline Bytes<kBytes> load_or_zero(const void* address, bool valid) {
  return valid ? load<kBytes>(address) : Bytes<kBytes>{};
}

/// The same to global memory, as one instruction for certain: of 16 bytes put together from four
/// registers the compiler is free to make four stores.
inline void store_global(void* address, const Bytes<16>& bytes) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(address)),
               "r"(bytes.value[0]), "r"(bytes.value[1]), "r"(bytes.value[2]), "r"(bytes.value[3])
               : "memory");
}

/// The same where `exists`, without a branch: what follows may be worked out beside it.
inline void store_global_if(bool exists, void* address, const Bytes<16>& bytes) {
  asm volatile(
      "{\n"
      ".reg .pred exists;\n"
      "setp.ne.b32 exists, %5, 0;\n"
      "@exists st.global.v4.b32 [%0], {%1, %2, %3, %4};\n"
      "}" ::"l"(__cvta_generic_to_global(address)),
      "r"(bytes.value[0]), "r"(bytes.value[1]), "r"(bytes.value[2]), "r"(bytes.value[3]),
      "r"(static_cast<int>(exists))
      : "memory");
}

}  // namespace heddle
