#include "tuner/race.hpp"

#include <algorithm>
#include <limits>

#include "runtime/testing/element.hpp"
#include "runtime/testing/layout.hpp"
#include "runtime/testing/scales.hpp"

namespace heddle {
namespace {

constexpr int kMostInputSets = 16;
/// Prime, so that rows and heads do not line up with the repetition.
constexpr std::size_t kPoolElements = 1'000'003;

/// A round of the race: who is further behind the round's best than `keep_within` leaves.
struct Round {
  int warm_ups;
  int samples;
  double keep_within;
};

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

int wanted_sets(const Device& device, const Problem& problem) {
  const double bytes = std::max(1.0, minimal_bytes(problem));
  const double l2 = static_cast<double>(device.limits().l2_bytes);
  return std::clamp(static_cast<int>(2 * l2 / bytes) + 1, 1, kMostInputSets);
}

std::vector<Meter::Work> work_of(std::vector<Racer*>& racers) {
  std::vector<Meter::Work> work;
  for (Racer* racer : racers) {
    work.emplace_back([racer](int iteration, DriverStream stream) {
      const auto set = static_cast<std::size_t>(iteration) % racer->parameters.size();
      racer->kernels->launch(racer->plan, racer->parameters[set], stream);
    });
  }
  return work;
}

void run_round(Meter& meter, std::vector<Racer*>& racers, const Round& round) {
  Meter::Options options;
  options.warm_ups = round.warm_ups;
  options.samples = round.samples;
  const auto timings = meter.compare(work_of(racers), options);
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < racers.size(); ++i) {
    racers[i]->candidate->timing = timings[i];
    best = std::min(best, timings[i].median_seconds);
  }
  std::erase_if(racers, [&](const Racer* racer) {
    return !racer->keep && racer->candidate->timing->median_seconds > best * round.keep_within;
  });
}

}  // namespace

InputSets::InputSets(const Device& device, const Problem& problem, std::size_t workspace_bytes,
                     std::uint64_t seed, const InputOptions& options)
    : problem_(problem) {
  // Normal numbers are drawn once for all sets and tensors: it is most of what preparing takes.
  const bool is_normal = options.kind == InputKind::kNormal;
  const auto pool = is_normal ? random_pool(problem, seed) : std::vector<std::uint16_t>{};
  const int wanted = wanted_sets(device, problem);
  for (int set = 0; set < wanted; ++set) {
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

void race(Meter& meter, std::vector<Racer>& racers, const TuneOptions& options) {
  std::vector<Racer*> running;
  for (Racer& racer : racers) running.push_back(&racer);
  const Round rounds[] = {{2, 3, 1.5}, {2, 7, 1.1}, {3, options.samples, 1.0}};
  for (const Round& round : rounds) {
    if (options.interrupted && options.interrupted()) return;
    run_round(meter, running, round);
  }
}

}  // namespace heddle
