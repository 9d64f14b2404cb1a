#pragma once
// A caller with data of its own that decodes again and again on one stream.

#include "tests/gpu/cases/api.hpp"
#include "tests/gpu/cases/checks.hpp"

namespace heddle {

/// Workspace from the driver's stream-ordered allocator.
heddle_options stream_ordered_options(const Gpu& gpu);

class Lane {
 public:
  struct Setup {
    const heddle_problem& asked;
    const Problem& problem;
    std::uint64_t seed;
    std::size_t workspace_bytes;  ///< 0: the allocator's business
  };
  Lane(const Gpu& gpu, const SmallKernels& kernels, const Setup& setup);

  /// One call alone on the device: what all later ones must give. Says what is wrong.
  std::string run_alone(const ContextHandle& context);
  /// Enqueues a call and the comparison of its outputs. Says what is wrong; any thread.
  std::string enqueue_compared(const ContextHandle& context, DriverStream stream) const;
  std::string enqueue_compared(const ContextHandle& context) const {
    return enqueue_compared(context, stream_.get());
  }
  void wait() const { gpu_.wait_for(stream_.get()); }
  DriverStream stream() const { return stream_.get(); }
  /// Words that differed from the call alone, over all calls.
  std::uint64_t differences() const { return counter_.value(); }
  bool guards_intact() const { return buffers_.guards_intact(); }

 private:
  heddle_status launch(const ContextHandle& context, DriverStream stream) const;
  std::size_t output_bytes() const;
  std::size_t log_sum_exp_bytes() const;

  const Gpu& gpu_;
  const SmallKernels& kernels_;
  const Setup setup_;
  ProblemBuffers buffers_;
  DeviceBuffer output_alone_, log_sum_exp_alone_;
  DeviceCounter counter_;
  NonBlockingStream stream_;
};

}  // namespace heddle
