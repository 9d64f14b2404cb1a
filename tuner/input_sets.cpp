#include "tuner/input_sets.hpp"

#include <algorithm>

#include "runtime/testing/element.hpp"
#include "runtime/testing/layout.hpp"
#include "runtime/testing/scales.hpp"

namespace heddle {
namespace {

constexpr int kMostInputSets = 16;
/// Prime, so that rows and heads do not line up with the repetition.
constexpr std::size_t kPoolElements = 1'000'003;

std::vector<std::uint16_t> random_pool(const Problem& problem, std::uint64_t seed) {
  NormalSource normal(seed);
  std::vector<std::uint16_t> pool(kPoolElements);
  for (auto& element : pool) {
    element = element_from_float(problem.variant.dtype, static_cast<float>(normal.next()));
  }
  return pool;
}

std::vector<std::uint16_t> repeated(const std::vector<std::uint16_t>& pool, std::size_t count,
                                    std::size_t offset) {
  std::vector<std::uint16_t> elements;
  elements.reserve(count);
  offset %= pool.size();
  while (elements.size() < count) {
    const std::size_t take = std::min(count - elements.size(), pool.size() - offset);
    const auto first = pool.begin() + static_cast<std::ptrdiff_t>(offset);
    elements.insert(elements.end(), first, first + static_cast<std::ptrdiff_t>(take));
    offset = 0;
  }
  return elements;
}

HostTensors timing_inputs(const Problem& problem, const std::vector<std::uint16_t>& pool, int set) {
  const Sizes& sizes = problem.sizes;
  const std::size_t query = storage_elements(sizes.query_strides, query_shape(problem));
  const std::size_t key = storage_elements(sizes.key_strides, key_value_shape(problem));
  const std::size_t value = storage_elements(sizes.value_strides, value_shape(problem));
  const std::size_t step = static_cast<std::size_t>(set) * 7919;
  HostTensors tensors{repeated(pool, query, step),
                      repeated(pool, key, step + 333'331),
                      repeated(pool, value, step + 666'667),
                      {}};
  if (problem.variant.dtype == DataType::kE4m3) {
    // Whatever they are, they have to be read.
    tensors.scales.query_descale.assign(query_scale_shape(problem).count(), 1.0f);
    tensors.scales.key_descale.assign(key_scale_shape(problem).count(), 1.0f);
    tensors.scales.value_descale.assign(value_scale_shape(problem).count(), 1.0f);
  }
  return tensors;
}

}  // namespace

int InputSets::wanted(const DeviceLimits& limits, const Problem& problem) {
  const double bytes = std::max(1.0, minimal_bytes(problem));
  const double l2 = static_cast<double>(limits.l2_bytes);
  return std::clamp(static_cast<int>(2 * l2 / bytes) + 1, 1, kMostInputSets);
}

InputSets::InputSets(const Device& device, const Problem& problem, std::size_t workspace_bytes,
                     std::uint64_t seed, const InputOptions& options, bool warm)
    : problem_(problem) {
  // Normal numbers are drawn once for all sets and tensors: it is most of what preparing takes.
  const bool is_normal = options.kind == InputKind::kNormal;
  const auto pool = is_normal ? random_pool(problem, seed) : std::vector<std::uint16_t>{};
  const int count = warm ? 1 : wanted(device.limits(), problem);
  for (int set = 0; set < count; ++set) {
    try {
      sets_.push_back(std::make_unique<ProblemBuffers>(device, problem, workspace_bytes));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kOutOfMemory || sets_.empty()) throw;
      return;
    }
    sets_.back()->upload(is_normal ? timing_inputs(problem, pool, set)
                                   : make_inputs(problem, options.kind, seed + set, options.rise));
  }
}

std::vector<AttentionParameters> InputSets::parameters(const KernelConfig& config,
                                                       const LaunchPlan& plan) const {
  std::vector<AttentionParameters> all;
  for (const auto& set : sets_) {
    all.push_back(fill_parameters(problem_, config, plan, set->pointers()));
  }
  return all;
}

}  // namespace heddle
