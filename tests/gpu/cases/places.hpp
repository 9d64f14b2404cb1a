#pragma once
// A small problem's tensors and a stream in one context.

#include "tests/gpu/cases/api.hpp"
#include "tests/gpu/cases/checks.hpp"

namespace heddle {

/// A context beside the primary one.
class OwnContext {
 public:
  /// The current context is left as it was.
  OwnContext(const Gpu& gpu, int device);
  ~OwnContext();
  OwnContext(const OwnContext&) = delete;
  OwnContext& operator=(const OwnContext&) = delete;
  DriverContext get() const { return context_; }

 private:
  const Gpu& gpu_;
  DriverContext context_ = nullptr;
};

class Place {
 public:
  Place(const Gpu& gpu, DriverContext context);
  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  static Problem problem();
  DriverContext context() const { return context_; }
  heddle_arguments arguments() const { return c_arguments(pointers_, 0); }
  heddle_status launch(const ContextHandle& context, const heddle_arguments& arguments) const;
  /// One call on poisoned outputs, whatever context is current. Says what is wrong.
  std::string run(const ContextHandle& context) const;

 private:
  void* allocate(std::size_t bytes, const void* content);
  Outputs outputs() const;

  const Gpu& gpu_;
  DriverContext context_;
  HostTensors tensors_;
  HostReference expected_;
  std::vector<DevicePointer> allocations_;
  TensorPointers pointers_;
  DriverStream stream_ = nullptr;
};

}  // namespace heddle
