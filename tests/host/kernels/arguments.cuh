#pragma once
// What the kernels of these tests take.

#include "tensor_map.cuh"

struct KernelArguments {
  heddle::TensorMap maps[4];
  void* pointers[4];
  int numbers[4];
};
