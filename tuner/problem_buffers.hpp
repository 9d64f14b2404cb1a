#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "generator/launch_plan.hpp"
#include "runtime/device.hpp"
#include "runtime/testing/reference.hpp"

namespace heddle {

/// One problem's tensors on a device, laid out by its strides, with guard bands around each. O, LSE
/// and the workspace begin as NaN patterns: what a kernel leaves unwritten shows.
class ProblemBuffers {
 public:
  /// Throws kOutOfMemory.
  ProblemBuffers(const Device& device, const Problem& problem, std::size_t workspace_bytes);

  void upload(const HostTensors& tensors);
  void poison_outputs();
  TensorPointers pointers() const;

  /// O, contiguous [batch, heads, seqlen_q, head_dim], in the type of the problem's O.
  std::vector<std::uint16_t> output() const;
  /// O's whole storage, gaps included.
  std::vector<std::uint16_t> output_storage() const;
  std::vector<float> log_sum_exp() const;
  const DeviceBuffer& workspace() const { return workspace_; }
  bool guards_intact() const;

 private:
  /// Of e4m3 inputs; absent as in the tensors uploaded last.
  struct Scales {
    std::optional<DeviceBuffer> query, key, value, mean, shift;
  };

  const Device& device_;
  Problem problem_;
  DeviceBuffer query_, key_, value_, output_, log_sum_exp_, workspace_;
  Scales scales_;
};

}  // namespace heddle
