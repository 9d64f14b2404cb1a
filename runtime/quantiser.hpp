#pragma once
// The generated quantiser on a device: fp16 or bf16 tensors to what an e4m3 problem takes.

#include <deque>
#include <memory>
#include <mutex>

#include "generator/launch_plan.hpp"
#include "generator/quantiser.hpp"
#include "runtime/kernel_provider.hpp"

namespace heddle {

/// What one tensor is made of; data null: it stays as it is.
struct QuantiserInput {
  const void* data = nullptr;
  Strides strides;  ///< all zero: contiguous [batch, heads, rows, head_dim]
};

struct QuantiserCall {
  Problem problem;  ///< of e4m3 inputs
  DataType dtype = DataType::kBf16;
  QuantiserRecipe recipe;
  unsigned seed = 0;
  QuantiserInput query, key, value;
  /// Q, K, V, their scales, means and shifts are written here, as a launch will read them.
  TensorPointers results;
  DriverStream stream = nullptr;
};

/// Thread-safe. Kernels stay resident until the end.
class Quantiser {
 public:
  explicit Quantiser(KernelProvider& provider);
  ~Quantiser();

  /// Pure and exact. Throws kInvalidArgument or kUnsupported for what no kernel does.
  static std::size_t workspace_bytes(const QuantiserCall& call);
  /// Compiles what is not resident, except while the stream is captured: kCaptureMiss. The stream's
  /// context must be current.
  void run(const QuantiserCall& call, void* workspace);

 private:
  struct Resident;

  const Resident& resident(const QuantiserConfig& config, const QuantiserCall& call, bool& is_new);

  KernelProvider& provider_;
  std::mutex mutex_;  ///< of the list; never held while compiling or loading
  std::deque<std::unique_ptr<const Resident>> residents_;
};

}  // namespace heddle
