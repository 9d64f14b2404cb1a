#pragma once
// What the device allows a problem, resource by resource.

#include <string>
#include <vector>

#include "generator/cost_model.hpp"

namespace heddle {

/// If only this bound the launch.
struct Ceiling {
  std::string name;
  double seconds = 0;
  double flops_per_second = 0;  ///< of the problem's own FLOP
};

struct Roofline {
  double flops = 0;         ///< the problem's: visible pairs of a query and a key
  double issued_flops = 0;  ///< through the tensor cores: whole tiles, padding included
  double peak_flops = 0;    ///< of the tensor cores, per second
  double hbm_bytes = 0;     ///< with the model of L2
  double least_bytes = 0;   ///< each tensor once
  double hbm_rate = 0;      ///< of the datasheet, bytes per second
  double usable_hbm = 0;    ///< what a plain copy reaches of it, which the HBM ceiling is made of
  double intensity = 0;     ///< FLOP per byte of HBM
  double ridge = 0;         ///< intensity from which on the tensor cores bind, not usable_hbm
  std::vector<Ceiling> ceilings;
  std::string binding;  ///< the lowest
};
/// The lowest ceiling and those that are as low.
std::vector<std::string> binding_ceilings(const Roofline& roof);
/// "tensor = exp (tie)".
std::string lowest_ceilings(const Roofline& roof);

Roofline roofline(const Problem& problem, const KernelConfig& config, const DeviceLimits& limits);

}  // namespace heddle
