#include "runtime/host/attention.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "generator/kernel_part.hpp"
#include "generator/tensor_maps.hpp"
#include "runtime/host/tensor_map.hpp"
#include "runtime/testing/layout.hpp"

namespace heddle {
namespace {

/// Storage that begins at a multiple of 256 bytes, as device allocations do.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t bytes, int fill)
      : bytes_(bytes), storage_(bytes + kAlignment, static_cast<unsigned char>(fill)) {
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
    offset_ = kAlignment - address % kAlignment;
  }
  AlignedBytes(const std::vector<std::uint16_t>& elements, DataType type)
      : AlignedBytes(elements.size() * static_cast<std::size_t>(element_bytes(type)), 0) {
    if (elements.empty()) return;
    if (element_bytes(type) == 1) {
      std::copy(elements.begin(), elements.end(), data());  // the low bytes
    } else {
      std::memcpy(data(), elements.data(), bytes_);
    }
  }
  AlignedBytes(const std::vector<float>& numbers)
      : AlignedBytes(numbers.size() * sizeof(float), 0) {
    if (!numbers.empty()) std::memcpy(data(), numbers.data(), bytes_);
  }

  unsigned char* data() { return storage_.data() + offset_; }
  std::size_t bytes() const { return bytes_; }
  /// Null where there are none.
  const float* numbers() { return bytes_ == 0 ? nullptr : reinterpret_cast<const float*>(data()); }
  HostBuffer buffer(std::string name, BufferAccess access) {
    return {data(), bytes_, std::move(name), access};
  }

 private:
  static constexpr std::size_t kAlignment = 256;
  std::size_t bytes_;
  std::vector<unsigned char> storage_;
  std::size_t offset_ = 0;
};

constexpr int kPoison = 0xff;  // a NaN in every type

/// What comes with 8-bit inputs.
struct Scales {
  AlignedBytes query, key, value, mean, shift;

  explicit Scales(const HostScales& scales)
      : query(scales.query_descale),
        key(scales.key_descale),
        value(scales.value_descale),
        mean(scales.value_mean),
        shift(scales.log_sum_exp_shift) {}

  void add_to(TensorPointers& pointers) {
    pointers.query_descale = query.numbers();
    pointers.key_descale = key.numbers();
    pointers.value_descale = value.numbers();
    pointers.value_mean = mean.numbers();
    pointers.log_sum_exp_shift = shift.numbers();
  }
  void add_to(std::vector<HostBuffer>& buffers) {
    const auto add = [&](AlignedBytes& bytes, const char* name) {
      if (bytes.bytes() != 0) buffers.push_back(bytes.buffer(name, BufferAccess::kRead));
    };
    add(query, "the factors of Q");
    add(key, "the factors of K");
    add(value, "the factors of V");
    add(mean, "the means of V");
    add(shift, "the shifts of LSE");
  }
};

struct Tensors {
  AlignedBytes query, key, value, output, log_sum_exp, workspace;
  Scales scales;
  AlignedBytes tile_counter{sizeof(unsigned), 0};

  TensorPointers pointers() {
    TensorPointers pointers{query.data(),
                            key.data(),
                            value.data(),
                            output.data(),
                            reinterpret_cast<float*>(log_sum_exp.data()),
                            workspace.data()};
    scales.add_to(pointers);
    return pointers;
  }
  std::vector<HostBuffer> buffers() {
    std::vector<HostBuffer> buffers{query.buffer("Q", BufferAccess::kRead),
                                    key.buffer("K", BufferAccess::kRead),
                                    value.buffer("V", BufferAccess::kRead),
                                    output.buffer("O", BufferAccess::kReadWrite),
                                    log_sum_exp.buffer("LSE", BufferAccess::kReadWrite),
                                    workspace.buffer("the workspace", BufferAccess::kReadWrite)};
    scales.add_to(buffers);
    return buffers;
  }
};

std::size_t row_count(const Problem& problem) {
  const Sizes& sizes = problem.sizes;
  return static_cast<std::size_t>(sizes.batch) * static_cast<std::size_t>(sizes.heads) *
         static_cast<std::size_t>(sizes.seqlen_q);
}

MappedParameters encode_maps(const AttentionParameters& parameters, const MapBoxes& boxes) {
  const auto requests = tensor_map_requests(parameters, boxes);
  MappedParameters mapped;
  mapped.query = host::encode_tensor_map(requests[0]);
  mapped.key = host::encode_tensor_map(requests[1]);
  mapped.value = host::encode_tensor_map(requests[2]);
  if (boxes.stores) mapped.output = host::encode_tensor_map(requests[3]);
  mapped.attention = parameters;
  return mapped;
}

void add_traffic(std::vector<BufferTraffic>& sum, const std::vector<BufferTraffic>& launch) {
  for (const BufferTraffic& buffer : launch) {
    const auto known = std::find_if(sum.begin(), sum.end(),
                                    [&](const auto& entry) { return entry.name == buffer.name; });
    if (known == sum.end()) {
      sum.push_back(buffer);
    } else {
      known->read += buffer.read;
      known->written += buffer.written;
    }
  }
}

/// Names the places. Unrolled code has many addresses for one line: each pair of lines is told
/// once.
void resolve(std::vector<HostFault>& faults, const HostKernel& kernel) {
  std::vector<HostFault> distinct;
  for (HostFault& fault : faults) {
    fault.location = kernel.locate(fault.where);
    fault.other_location = kernel.locate(fault.other);
    const bool told = std::any_of(distinct.begin(), distinct.end(), [&](const HostFault& entry) {
      return entry.kind == fault.kind && entry.location == fault.location &&
             entry.other_location == fault.other_location && !fault.location.empty();
    });
    if (!told) distinct.push_back(std::move(fault));
  }
  faults = std::move(distinct);
}

}  // namespace

HostConfig compile_for_host(HostCompiler& compiler, const Variant& variant,
                            const KernelConfig& config, const DeviceLimits& limits) {
  HostConfig compiled{config, {}};
  for (const KernelPart part : kernel_parts(config)) {
    compiled.parts.push_back(compiler.compile(emit(variant, config, part, limits)));
  }
  return compiled;
}

HostRun run_on_host(const Problem& problem, const HostConfig& config, const DeviceLimits& limits,
                    const HostTensors& tensors, const HostLaunchOptions& options) {
  const LaunchPlan plan = plan_launch(problem, config.config, limits);
  const TensorShape shape = query_shape(problem);
  const Strides strides = effective_strides(problem.sizes.output_strides, shape);
  HostRun result;
  const DataType input = problem.variant.dtype;
  Tensors memory{AlignedBytes(tensors.query, input),
                 AlignedBytes(tensors.key, input),
                 AlignedBytes(tensors.value, input),
                 AlignedBytes(2 * storage_elements(strides, shape), kPoison),
                 AlignedBytes(sizeof(float) * row_count(problem), kPoison),
                 AlignedBytes(plan.workspace_bytes, kPoison),
                 Scales(tensors.scales)};
  AttentionParameters parameters = fill_parameters(problem, config.config, plan, memory.pointers());
  if (plan.draws_tiles) {
    parameters.tile_counter = reinterpret_cast<unsigned*>(memory.tile_counter.data());
  }
  for (int i = 0; i < plan.count && result.faults.empty(); ++i) {
    const PartLaunch& launch = plan.launches[static_cast<std::size_t>(i)];
    const HostKernel& kernel = *config.parts[static_cast<std::size_t>(i)];
    auto buffers = memory.buffers();
    if (plan.draws_tiles) {
      buffers.push_back(memory.tile_counter.buffer("the tile counter", BufferAccess::kReadWrite));
    }
    MemoryMap map(std::move(buffers));
    map.add_image(reinterpret_cast<const void*>(kernel.entry()));
    MappedParameters mapped{};
    if (loads_by_tma(launch.part)) mapped = encode_maps(parameters, plan.maps);
    const BlockRun::Program program{[&] {
                                      if (loads_by_tma(launch.part)) {
                                        kernel.mapped_entry()(mapped);
                                      } else {
                                        kernel.entry()(parameters);
                                      }
                                    },
                                    [&](const host::ThreadState* state) { kernel.enter(state); }};
    const BlockShape block{launch.threads, launch.shared_bytes, launch_registers(launch.threads),
                           static_cast<int>(launch.grid)};
    HostLaunchOptions counting = options;
    counting.barriers = &result.barriers;
    result.faults = launch_on_host({launch.grid, block}, map, program, counting);
    resolve(result.faults, kernel);
    add_traffic(result.traffic, map.traffic());
  }
  std::memcpy(&result.tile_counter, memory.tile_counter.data(), sizeof result.tile_counter);
  result.output_storage.resize(memory.output.bytes() / 2);
  std::memcpy(result.output_storage.data(), memory.output.data(), memory.output.bytes());
  result.workspace.assign(memory.workspace.data(),
                          memory.workspace.data() + memory.workspace.bytes());
  result.output = gather(result.output_storage, strides, shape);
  result.log_sum_exp.resize(row_count(problem));
  std::memcpy(result.log_sum_exp.data(), memory.log_sum_exp.data(), memory.log_sum_exp.bytes());
  return result;
}

}  // namespace heddle
