#include "tests/gpu/cases/lanes.hpp"

#include "runtime/testing/layout.hpp"

namespace heddle {
namespace {

using Allocate = DriverResult(DevicePointer*, std::size_t, DriverStream);
using Free = DriverResult(DevicePointer, DriverStream);

/// Called from any thread; the Gpu outlives the heddle_context.
int allocate_in_order(void* user, std::size_t bytes, void* stream, void** pointer) {
  auto* allocate = static_cast<const Gpu*>(user)->entry<Allocate>("cuMemAllocAsync");
  DevicePointer address = 0;
  const DriverResult result = allocate(&address, bytes, stream);
  *pointer = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
  return result;
}

void release_in_order(void* user, void* pointer, std::size_t, void* stream) {
  static_cast<const Gpu*>(user)->entry<Free>("cuMemFreeAsync")(device_address(pointer), stream);
}

}  // namespace

heddle_options stream_ordered_options(const Gpu& gpu) {
  heddle_options options = plain_options();
  options.allocate = allocate_in_order;
  options.release = release_in_order;
  options.allocator_user = const_cast<Gpu*>(&gpu);
  return options;
}

Lane::Lane(const Gpu& gpu, const SmallKernels& kernels, const Setup& setup)
    : gpu_(gpu),
      kernels_(kernels),
      setup_(setup),
      buffers_(gpu.device(), setup.problem, setup.workspace_bytes),
      output_alone_(gpu.device(), output_bytes()),
      log_sum_exp_alone_(gpu.device(), log_sum_exp_bytes()),
      counter_(gpu),
      stream_(gpu.api()) {
  const TensorPointers pointers = buffers_.pointers();
  const DataType dtype = setup.problem.variant.dtype;
  const std::size_t keys = key_value_shape(setup.problem).elements();
  kernels.fill_normal(pointers.query, query_shape(setup.problem).elements(), {dtype, setup.seed});
  kernels.fill_normal(pointers.key, keys, {dtype, setup.seed + 1});
  kernels.fill_normal(pointers.value, keys, {dtype, setup.seed + 2});
}

std::size_t Lane::output_bytes() const {
  return query_shape(setup_.problem).elements() * sizeof(std::uint16_t);
}

std::size_t Lane::log_sum_exp_bytes() const {
  return query_shape(setup_.problem).elements() / setup_.problem.variant.head_dim * sizeof(float);
}

heddle_status Lane::launch(const ContextHandle& context, DriverStream stream) const {
  const heddle_arguments arguments = c_arguments(buffers_.pointers(), setup_.workspace_bytes);
  return heddle_launch(context.get(), &setup_.asked, &arguments, stream);
}

std::string Lane::run_alone(const ContextHandle& context) {
  const TensorPointers pointers = buffers_.pointers();
  if (std::string wrong = failure(context, launch(context, stream_.get())); !wrong.empty()) {
    return wrong;
  }
  wait();
  gpu_.copy_on_device(output_alone_.data(), pointers.output, output_bytes(), stream_.get());
  gpu_.copy_on_device(log_sum_exp_alone_.data(), pointers.log_sum_exp, log_sum_exp_bytes(),
                      stream_.get());
  wait();
  return check_random_rows(gpu_, setup_.problem, pointers, {.count = 16, .seed = setup_.seed});
}

std::string Lane::enqueue_compared(const ContextHandle& context, DriverStream stream) const {
  const TensorPointers pointers = buffers_.pointers();
  gpu_.poison(pointers.output, output_bytes(), stream);
  gpu_.poison(pointers.log_sum_exp, log_sum_exp_bytes(), stream);
  const heddle_status status = launch(context, stream);
  kernels_.count_different(pointers.output, output_alone_.data(), output_bytes(), counter_.data(),
                           stream);
  kernels_.count_different(pointers.log_sum_exp, log_sum_exp_alone_.data(), log_sum_exp_bytes(),
                           counter_.data(), stream);
  return failure(context, status);
}

}  // namespace heddle
