#include "runtime/testing/reference_inputs.hpp"

namespace heddle {

ReferenceInputs::View ReferenceInputs::view(const std::vector<std::uint16_t>& storage,
                                            const Strides& strides, const TensorShape& shape,
                                            const char* name) {
  const std::size_t needed = storage_elements(strides, shape);
  if (storage.size() < needed) {
    throw Error(ErrorCode::kInvalidArgument, name,
                std::string(name) + ": " + std::to_string(storage.size()) +
                    " elements, but its shape and strides reach " + std::to_string(needed));
  }
  return {storage.data(), effective_strides(strides, shape)};
}

ReferenceInputs::ReferenceInputs(const Problem& problem, const HostTensors& tensors)
    : problem_(problem),
      query_(view(tensors.query, problem.sizes.query_strides, query_shape(problem), "query")),
      key_(view(tensors.key, problem.sizes.key_strides, key_value_shape(problem), "key")),
      value_(view(tensors.value, problem.sizes.value_strides, value_shape(problem), "value")),
      scales_(tensors.scales),
      query_scales_(query_scale_shape(problem)),
      key_scales_(key_scale_shape(problem)),
      value_scales_(value_scale_shape(problem)) {
  check_scales(problem, tensors.scales);
}

}  // namespace heddle
