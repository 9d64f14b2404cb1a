#include "runtime/host/quantiser.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "runtime/testing/layout.hpp"
#include "runtime/testing/scales.hpp"
#include "templates/warpgroup_layout.cuh"

namespace heddle {
namespace {

constexpr int kPoison = 0xff;  // NaN in fp32 and in e4m3
constexpr std::size_t kAlignment = 256;

/// Memory that begins as device allocations do.
class Memory {
 public:
  Memory(std::string name, std::size_t bytes, BufferAccess access)
      : storage_(bytes + kAlignment, static_cast<unsigned char>(kPoison)) {
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
    buffer_ = {storage_.data() + (kAlignment - address % kAlignment), bytes, std::move(name),
               access};
  }
  Memory(const Memory&) = delete;  // the buffer points into the storage
  Memory& operator=(const Memory&) = delete;
  void* data() const { return buffer_.bytes == 0 ? nullptr : buffer_.data; }
  float* numbers() const { return static_cast<float*>(data()); }
  const HostBuffer& buffer() const { return buffer_; }
  std::vector<float> read_numbers() const {
    std::vector<float> numbers(buffer_.bytes / sizeof(float));
    if (!numbers.empty()) std::memcpy(numbers.data(), buffer_.data, buffer_.bytes);
    return numbers;
  }

 private:
  std::vector<unsigned char> storage_;
  HostBuffer buffer_;
};

constexpr const char* kArchitecture = "sm_90a";

using Kernels = std::vector<std::shared_ptr<const HostKernel>>;

/// One tensor's way through the kernels.
class TensorRun {
 public:
  TensorRun(const QuantiserConfig& config, const TensorShape& shape, std::size_t scales,
            const std::vector<std::uint16_t>& elements)
      : config_(config),
        sizes_{shape.batch, shape.heads, shape.rows, {}, {}},
        plan_(plan_quantiser(config, sizes_)),
        input_("the input", elements.size() * 2, BufferAccess::kRead),
        output_("the elements", output_bytes(), BufferAccess::kReadWrite),
        scales_("the scales", scales * sizeof(float), BufferAccess::kReadWrite),
        means_("the means", config.subtract_mean ? mean_bytes() : 0, BufferAccess::kReadWrite),
        workspace_("the workspace", plan_.workspace_bytes, BufferAccess::kReadWrite) {
    if (!elements.empty()) std::memcpy(input_.data(), elements.data(), elements.size() * 2);
  }

  /// Queries write what their log-sum-exp lacks without the mean of these keys.
  void shift_by(const TensorRun& keys, double scale) {
    key_means_ = &keys.means_;
    kv_heads_ = keys.sizes_.heads;
    scale_ = static_cast<float>(scale);
    const auto rows = static_cast<std::size_t>(sizes_.batch) * sizes_.heads * sizes_.rows;
    shift_.emplace("the shift", rows * sizeof(float), BufferAccess::kReadWrite);
  }

  std::vector<HostFault> run(const Kernels& kernels, unsigned seed,
                             const HostLaunchOptions& options) {
    QuantiseParameters parameters = quantiser_parameters(
        config_, sizes_,
        {input_.data(), output_.data(), scales_.numbers(), means_.numbers(), workspace_.data()},
        seed);
    if (shift_) {
      parameters.key_means = key_means_->numbers();
      parameters.kv_heads = kv_heads_;
      parameters.scale = scale_;
      parameters.log_sum_exp_shift = shift_->numbers();
    }
    for (std::size_t i = 0; i < plan_.launches.size(); ++i) {
      auto faults = run_part(*kernels.at(i), plan_.launches[i], parameters, options);
      if (!faults.empty()) return faults;
    }
    return {};
  }

  std::vector<std::uint16_t> elements() const {
    const auto* bytes = static_cast<const unsigned char*>(output_.buffer().data);
    return {bytes, bytes + output_.buffer().bytes};
  }
  std::vector<float> scales() const { return scales_.read_numbers(); }
  std::vector<float> means() const { return means_.read_numbers(); }
  std::vector<float> shift() const {
    return shift_ ? shift_->read_numbers() : std::vector<float>();
  }

 private:
  std::size_t head_count() const { return static_cast<std::size_t>(sizes_.batch) * sizes_.heads; }
  std::size_t mean_bytes() const {
    return head_count() * static_cast<std::size_t>(config_.head_dim) * sizeof(float);
  }
  std::size_t output_bytes() const {
    const int rows = config_.layout == ValueLayout::kTransposed
                         ? (sizes_.rows + kKeyGroup - 1) / kKeyGroup * kKeyGroup
                         : sizes_.rows;
    return head_count() * static_cast<std::size_t>(rows) * config_.head_dim;
  }

  std::vector<HostFault> run_part(const HostKernel& kernel, const QuantiserLaunch& launch,
                                  const QuantiseParameters& parameters,
                                  const HostLaunchOptions& options) {
    const auto entry = reinterpret_cast<void (*)(QuantiseParameters)>(
        kernel.symbol("heddle_" + std::string(enum_name(launch.part))));
    std::vector<HostBuffer> buffers;
    for (const Memory* memory : {&input_, &output_, &scales_, &means_, &workspace_}) {
      buffers.push_back(memory->buffer());
    }
    if (shift_) {
      buffers.push_back(shift_->buffer());
      HostBuffer key_means = key_means_->buffer();
      key_means.access = BufferAccess::kRead;
      buffers.push_back(std::move(key_means));
    }
    MemoryMap map(buffers);
    map.add_image(reinterpret_cast<const void*>(entry));
    const BlockRun::Program program{[&] { entry(parameters); },
                                    [&](const host::ThreadState* state) { kernel.enter(state); }};
    const BlockShape block{launch.threads, launch.shared_bytes, 0, static_cast<int>(launch.grid)};
    auto faults = launch_on_host({launch.grid, block}, map, program, options);
    for (HostFault& fault : faults) {
      fault.location = kernel.locate(fault.where);
      fault.other_location = kernel.locate(fault.other);
    }
    return faults;
  }

  QuantiserConfig config_;
  QuantiserSizes sizes_;
  QuantiserPlan plan_;
  Memory input_, output_, scales_, means_, workspace_;
  std::optional<Memory> shift_;
  const Memory* key_means_ = nullptr;
  int kv_heads_ = 0;
  float scale_ = 0;
};

}  // namespace

HostQuantiser compile_quantiser_for_host(HostCompiler& compiler, const QuantiserConfigs& configs) {
  const auto compile = [&](const QuantiserConfig& config) {
    Kernels kernels;
    for (const QuantiserPart part : quantiser_parts(config)) {
      kernels.push_back(compiler.compile(emit_quantiser(config, part, kArchitecture)));
    }
    return kernels;
  };
  return {configs, compile(configs.query), compile(configs.key), compile(configs.value)};
}

HostQuantised quantise_on_host(const Problem& problem, const HostQuantiser& quantiser,
                               const HostTensors& inputs, unsigned seed,
                               const HostLaunchOptions& options) {
  require(reject_problem(problem));
  const QuantiserConfigs& configs = quantiser.configs;
  const TensorShape keys = key_value_shape(problem);
  TensorRun query(configs.query, query_shape(problem), query_scale_shape(problem).count(),
                  inputs.query);
  TensorRun key(configs.key, keys, key_scale_shape(problem).count(), inputs.key);
  TensorRun value(configs.value, keys, value_scale_shape(problem).count(), inputs.value);
  if (configs.query.shift) query.shift_by(key, resolved_scale(problem.variant, problem.sizes));
  HostQuantised result;
  const auto run = [&](TensorRun& tensor, const Kernels& kernels) {
    if (result.faults.empty()) result.faults = tensor.run(kernels, seed, options);
  };
  run(key, quantiser.key);  // first: Q's shift needs K's mean
  run(query, quantiser.query);
  run(value, quantiser.value);
  if (!result.faults.empty()) return result;
  result.tensors = {query.elements(),
                    key.elements(),
                    value.elements(),
                    {query.scales(), key.scales(), value.scales(), value.means(), query.shift()}};
  return result;
}

}  // namespace heddle
