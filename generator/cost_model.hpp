#pragma once

#include <algorithm>
#include <string_view>

#include "generator/architecture.hpp"
#include "generator/bucket.hpp"
#include "generator/kernel_config.hpp"
#include "generator/launch_plan.hpp"
#include "generator/part_work.hpp"

namespace heddle {

/// Predicted seconds and where they go. Each term is the time the whole launch would take if that
/// resource alone bound it: of the SMs' own, on the SMs that have blocks. `binding` names the
/// largest.
struct Prediction {
  double seconds = 0;
  double tensor_seconds = 0;
  double exponential_seconds = 0;
  double issue_seconds = 0;
  double shared_memory_seconds = 0;
  double l2_seconds = 0;            ///< K, V, scores and probabilities between L2 and the SMs
  double hbm_seconds = 0;           ///< bytes at the rate that HBM reaches
  double load_latency_seconds = 0;  ///< loads in a row, as far as blocks do not ask ahead
  double launch_seconds = 0;
  double waves = 0;       ///< blocks / (SMs * blocks resident per SM)
  int blocks_per_sm = 0;  ///< resident at once
  int estimated_registers = 0;
  double hbm_bytes = 0;
  std::string_view binding;
};

/// Share of the datasheet's bandwidth that a plain copy reaches (H200: 4.4 of 4.8 TB/s).
constexpr double kHbmEfficiency = 0.92;

/// Of what a part could overlap on chip and with HBM, the shorter shows for this share.
constexpr double kNotHidden = 0.1;

/// One launch of a prediction.
struct PartPrediction {
  PartWork work;
  int resident = 1;                 ///< blocks on an SM at once
  double waves = 0;                 ///< blocks of work / (SMs * resident)
  double busy_seconds = 0;          ///< on the SMs, as if HBM were not there
  double own_seconds = 0;           ///< the same without L2, which delivers what HBM sends
  double hbm_seconds = 0;           ///< bytes at the rate that HBM reaches
  double load_latency_seconds = 0;  ///< loads in a row, as far as blocks do not ask ahead
  double seconds = 0;               ///< all of it, without the launch
  double launch_seconds = 0;        ///< before it

  double memory_seconds() const { return std::max(hbm_seconds, load_latency_seconds); }
};
/// The same work as if L2 were not there.
PartWork without_l2(PartWork work);

/// Launch `index` of a plan.
PartPrediction predict_part(const Problem& problem, const KernelConfig& config,
                            const LaunchPlan& plan, int index, const DeviceLimits& limits);

/// Zero for an empty problem. The reference family, which is never tuned, is not modelled.
Prediction predict(const Problem& problem, const KernelConfig& config, const DeviceLimits& limits);

/// Dense 16-bit FLOP per clock and SM through the instructions that the family multiplies by.
double tensor_flops_per_clock(Family family, DataType dtype, const DeviceLimits& limits);

/// Registers per thread that the main loop of a part is expected to need (not capped at 255: what
/// needs more spills). Of fa3, what the launch gives each thread before setmaxnreg deals it out.
int estimate_registers(const Variant& variant, const KernelConfig& config,
                       const DeviceLimits& limits);

/// The same of an fa3 consumer.
int estimate_consumer_registers(const Variant& variant, const KernelConfig& config);

}  // namespace heddle
