#include "tests/gpu/cases/places.hpp"

#include "runtime/testing/inputs.hpp"

namespace heddle {

OwnContext::OwnContext(const Gpu& gpu, int device) : gpu_(gpu) {
  using Create = DriverResult(DriverContext*, unsigned, DeviceHandle);
  DeviceHandle handle = 0;
  gpu.check(gpu.api().cuDeviceGet(&handle, device), "cuDeviceGet");
  gpu.check(gpu.entry<Create>("cuCtxCreate_v2")(&context_, 0, handle), "cuCtxCreate");
  DriverContext popped = nullptr;
  gpu.check(gpu.api().cuCtxPopCurrent(&popped), "cuCtxPopCurrent");
}

OwnContext::~OwnContext() {
  gpu_.entry<DriverResult(DriverContext)>("cuCtxDestroy_v2")(context_);
}

Problem Place::problem() {
  Problem problem;
  problem.variant = {.head_dim = 64, .mask = MaskKind::kCausal};
  problem.sizes = {.batch = 2, .heads = 4, .kv_heads = 2, .seqlen_q = 130, .seqlen_kv = 130};
  return problem;
}

Place::Place(const Gpu& gpu, DriverContext context)
    : gpu_(gpu),
      context_(context),
      tensors_(make_inputs(problem(), InputKind::kNormal, test_seed())),
      expected_(host_reference(problem(), tensors_)) {
  const ContextScope scope(gpu.api(), context);
  gpu.check(gpu.api().cuStreamCreate(&stream_, kStreamNonBlocking), "cuStreamCreate");
  const auto upload = [&](const std::vector<std::uint16_t>& elements) {
    return allocate(elements.size() * sizeof(std::uint16_t), elements.data());
  };
  pointers_.query = upload(tensors_.query);
  pointers_.key = upload(tensors_.key);
  pointers_.value = upload(tensors_.value);
  pointers_.output = upload(tensors_.query);
  const std::size_t rows = expected_.float64.log_sum_exp.size();
  pointers_.log_sum_exp = static_cast<float*>(allocate(rows * sizeof(float), nullptr));
  gpu.wait_for(nullptr);
}

Place::~Place() {
  if (gpu_.api().cuCtxPushCurrent(context_) != kDriverSuccess) return;
  for (const DevicePointer allocation : allocations_) gpu_.api().cuMemFree(allocation);
  gpu_.api().cuStreamDestroy(stream_);
  DriverContext popped = nullptr;
  gpu_.api().cuCtxPopCurrent(&popped);
}

void* Place::allocate(std::size_t bytes, const void* content) {
  DevicePointer address = 0;
  gpu_.check(gpu_.api().cuMemAlloc(&address, bytes), "cuMemAlloc");
  allocations_.push_back(address);
  if (content != nullptr) {
    gpu_.check(gpu_.api().cuMemcpyHtoD(address, content, bytes), "cuMemcpyHtoD");
  }
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

heddle_status Place::launch(const ContextHandle& context, const heddle_arguments& arguments) const {
  const heddle_problem asked = write_problem(problem());
  return heddle_launch(context.get(), &asked, &arguments, stream_);
}

Outputs Place::outputs() const {
  Outputs actual;
  actual.output.resize(tensors_.query.size());
  actual.log_sum_exp.resize(expected_.float64.log_sum_exp.size());
  const auto read = [&](auto& values, const void* from) {
    gpu_.check(gpu_.api().cuMemcpyDtoH(values.data(), device_address(from),
                                       values.size() * sizeof(values[0])),
               "cuMemcpyDtoH");
  };
  read(actual.output, pointers_.output);
  read(actual.log_sum_exp, pointers_.log_sum_exp);
  return actual;
}

std::string Place::run(const ContextHandle& context) const {
  {
    const ContextScope scope(gpu_.api(), context_);
    gpu_.poison(pointers_.output, tensors_.query.size() * sizeof(std::uint16_t), stream_);
    gpu_.poison(pointers_.log_sum_exp, expected_.float64.log_sum_exp.size() * sizeof(float),
                stream_);
  }
  const std::string wrong = failure(context, launch(context, arguments()));
  if (!wrong.empty()) return wrong;
  const ContextScope scope(gpu_.api(), context_);
  gpu_.wait_for(stream_);
  return check_all_rows(problem(), expected_, outputs());
}

}  // namespace heddle
