#include "tuner/problem_buffers.hpp"

#include <algorithm>

#include "runtime/testing/layout.hpp"

namespace heddle {
namespace {

constexpr std::size_t kGuardBytes = 4096;
constexpr unsigned char kPoison = 0xff;

DeviceBuffer tensor_buffer(const Device& device, const Strides& strides, const TensorShape& shape) {
  const std::size_t bytes = storage_elements(strides, shape) * sizeof(std::uint16_t);
  return DeviceBuffer(device, std::max<std::size_t>(bytes, 16), kGuardBytes);
}

std::size_t query_rows(const Sizes& sizes) {
  return static_cast<std::size_t>(sizes.batch) * sizes.heads * sizes.seqlen_q;
}

void upload_all(DeviceBuffer& buffer, const std::vector<std::uint16_t>& elements) {
  const std::size_t bytes = elements.size() * sizeof(std::uint16_t);
  buffer.upload(elements.data(), std::min(bytes, buffer.bytes()));
}

}  // namespace

ProblemBuffers::ProblemBuffers(const Device& device, const Problem& problem,
                               std::size_t workspace_bytes)
    : problem_(problem),
      query_(tensor_buffer(device, problem.sizes.query_strides, query_shape(problem))),
      key_(tensor_buffer(device, problem.sizes.key_strides, key_value_shape(problem))),
      value_(tensor_buffer(device, problem.sizes.value_strides, key_value_shape(problem))),
      output_(tensor_buffer(device, problem.sizes.output_strides, query_shape(problem))),
      log_sum_exp_(device, std::max<std::size_t>(query_rows(problem.sizes) * sizeof(float), 16),
                   kGuardBytes),
      workspace_(device, std::max<std::size_t>(workspace_bytes, 16), kGuardBytes) {
  poison_outputs();
}

void ProblemBuffers::upload(const HostTensors& tensors) {
  upload_all(query_, tensors.query);
  upload_all(key_, tensors.key);
  upload_all(value_, tensors.value);
}

void ProblemBuffers::poison_outputs() {
  output_.fill(kPoison);
  log_sum_exp_.fill(kPoison);
  workspace_.fill(kPoison);
}

TensorPointers ProblemBuffers::pointers() const {
  return {query_.data(),
          key_.data(),
          value_.data(),
          output_.data(),
          static_cast<float*>(log_sum_exp_.data()),
          workspace_.data()};
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
