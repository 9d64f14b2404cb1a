#include "tests/gpu/twin_host.hpp"

#include <stdexcept>

#include "runtime/host/launch.hpp"
#include "tests/host/kernels/arguments.cuh"

namespace heddle {
namespace {

/// Memory as a device would give it: 256-byte aligned, apart from other memory.
class Aligned {
 public:
  explicit Aligned(Bytes bytes) : bytes_(bytes.size()), storage_(bytes.size() + 2 * kAlignment) {
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
    data_ = storage_.data() + (kAlignment - address % kAlignment);
    if (bytes_ != 0) std::memcpy(data_, bytes.data(), bytes_);
  }
  unsigned char* data() { return data_; }
  HostBuffer buffer(const char* name, BufferAccess access) { return {data_, bytes_, name, access}; }
  Bytes copy() const { return {data_, data_ + bytes_}; }

 private:
  static constexpr std::size_t kAlignment = 256;
  std::size_t bytes_;
  Bytes storage_;
  unsigned char* data_;
};

}  // namespace

TwinResult run_on_host(HostCompiler& compiler, const TwinCase& twin) {
  const auto kernel = compiler.compile(twin_source(twin));
  const auto function = reinterpret_cast<void (*)(KernelArguments)>(kernel->symbol(twin.entry));
  if (function == nullptr) throw std::runtime_error("no kernel " + twin.entry);
  Aligned input(twin.input);
  Aligned output(Bytes(twin.output_bytes));
  std::vector<int> at(8);
  KernelArguments arguments{};
  arguments.pointers[0] = input.data();
  arguments.pointers[1] = output.data();
  arguments.numbers[0] = twin.number;
  if (twin.tensor) {
    std::copy(twin.tensor->at.begin(), twin.tensor->at.end(), at.begin());
    arguments.pointers[2] = at.data();
    TensorMapRequest request = twin.tensor->map;
    request.address = twin.tensor->store ? output.data() : input.data();
    arguments.maps[0] = host::encode_tensor_map(request);
  }
  MemoryMap map({input.buffer("the input", BufferAccess::kRead),
                 output.buffer("the output", BufferAccess::kReadWrite),
                 {at.data(), 4 * at.size(), "the coordinates", BufferAccess::kRead}});
  map.add_image(reinterpret_cast<const void*>(function));
  const BlockRun::Program program{[&] { function(arguments); },
                                  [&](const host::ThreadState* state) { kernel->enter(state); }};
  const int registers = 65536 / twin.threads / 8 * 8;
  TwinResult result;
  const BlockShape block{twin.threads, twin.shared_bytes, registers, twin.blocks};
  result.faults = launch_on_host({static_cast<unsigned>(twin.blocks), block}, map, program,
                                 {{7, Landing::kLatest}, 1});
  for (HostFault& fault : result.faults) fault.location = kernel->locate(fault.where);
  result.output = output.copy();
  return result;
}

}  // namespace heddle
