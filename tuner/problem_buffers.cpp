#include "tuner/problem_buffers.hpp"

#include <algorithm>

#include "runtime/testing/layout.hpp"

namespace heddle {
namespace {

constexpr std::size_t kGuardBytes = 4096;
constexpr unsigned char kPoison = 0xff;

DeviceBuffer tensor_buffer(const Device& device, const Strides& strides, const TensorShape& shape,
                           DataType type) {
  const std::size_t bytes =
      storage_elements(strides, shape) * static_cast<std::size_t>(element_bytes(type));
  return DeviceBuffer(device, std::max<std::size_t>(bytes, 16), kGuardBytes);
}

std::size_t query_rows(const Sizes& sizes) {
  return static_cast<std::size_t>(sizes.batch) * sizes.heads * sizes.seqlen_q;
}

template <class Element>
void upload_all(DeviceBuffer& buffer, const std::vector<Element>& elements) {
  const std::size_t bytes = elements.size() * sizeof(Element);
  buffer.upload(elements.data(), std::min(bytes, buffer.bytes()));
}

void upload_elements(DeviceBuffer& buffer, const std::vector<std::uint16_t>& elements,
                     DataType type) {
  if (element_bytes(type) == 2) return upload_all(buffer, elements);
  upload_all(buffer, std::vector<std::uint8_t>(elements.begin(), elements.end()));  // low bytes
}

}  // namespace

ProblemBuffers::ProblemBuffers(const Device& device, const Problem& problem,
                               std::size_t workspace_bytes)
    : device_(device),
      problem_(problem),
      query_(tensor_buffer(device, problem.sizes.query_strides, query_shape(problem),
                           problem.variant.dtype)),
      key_(tensor_buffer(device, problem.sizes.key_strides, key_value_shape(problem),
                         problem.variant.dtype)),
      value_(tensor_buffer(device, problem.sizes.value_strides, value_shape(problem),
                           problem.variant.dtype)),
      output_(tensor_buffer(device, problem.sizes.output_strides, query_shape(problem),
                            output_type(problem.variant))),
      log_sum_exp_(device, std::max<std::size_t>(query_rows(problem.sizes) * sizeof(float), 16),
                   kGuardBytes),
      workspace_(device, std::max<std::size_t>(workspace_bytes, 16), kGuardBytes) {
  poison_outputs();
}

void ProblemBuffers::upload(const HostTensors& tensors) {
  const DataType type = problem_.variant.dtype;
  upload_elements(query_, tensors.query, type);
  upload_elements(key_, tensors.key, type);
  upload_elements(value_, tensors.value, type);
  const auto upload_scale = [&](std::optional<DeviceBuffer>& buffer,
                                const std::vector<float>& numbers) {
    buffer.reset();
    if (numbers.empty()) return;
    buffer.emplace(device_, numbers.size() * sizeof(float), kGuardBytes);
    upload_all(*buffer, numbers);
  };
  upload_scale(scales_.query, tensors.scales.query_descale);
  upload_scale(scales_.key, tensors.scales.key_descale);
  upload_scale(scales_.value, tensors.scales.value_descale);
  upload_scale(scales_.mean, tensors.scales.value_mean);
  upload_scale(scales_.shift, tensors.scales.log_sum_exp_shift);
}

void ProblemBuffers::poison_outputs() {
  output_.fill(kPoison);
  log_sum_exp_.fill(kPoison);
  workspace_.fill(kPoison);
}

TensorPointers ProblemBuffers::pointers() const {
  const auto numbers = [](const std::optional<DeviceBuffer>& buffer) {
    return buffer ? static_cast<const float*>(buffer->data()) : nullptr;
  };
  return {.query = query_.data(),
          .key = key_.data(),
          .value = value_.data(),
          .output = output_.data(),
          .log_sum_exp = static_cast<float*>(log_sum_exp_.data()),
          .workspace = workspace_.data(),
          .query_descale = numbers(scales_.query),
          .key_descale = numbers(scales_.key),
          .value_descale = numbers(scales_.value),
          .value_mean = numbers(scales_.mean),
          .log_sum_exp_shift = numbers(scales_.shift)};
}

std::vector<std::uint16_t> ProblemBuffers::output_storage() const {
  const std::size_t elements =
      storage_elements(problem_.sizes.output_strides, query_shape(problem_));
  std::vector<std::uint16_t> storage(elements);
  output_.download(storage.data(), elements * sizeof(std::uint16_t));
  return storage;
}

std::vector<std::uint16_t> ProblemBuffers::output() const {
  return gather(output_storage(), problem_.sizes.output_strides, query_shape(problem_));
}

std::vector<float> ProblemBuffers::log_sum_exp() const {
  std::vector<float> values(query_rows(problem_.sizes));
  log_sum_exp_.download(values.data(), values.size() * sizeof(float));
  return values;
}

bool ProblemBuffers::guards_intact() const {
  return query_.guards_intact() && key_.guards_intact() && value_.guards_intact() &&
         output_.guards_intact() && log_sum_exp_.guards_intact() && workspace_.guards_intact();
}

}  // namespace heddle
