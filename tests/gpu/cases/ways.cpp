#include "tests/gpu/cases/ways.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include "generator/candidates.hpp"
#include "generator/cost_model.hpp"
#include "generator/error.hpp"
#include "tuner/config_kernels.hpp"

namespace heddle {
namespace {

std::vector<KernelConfig> legal_configs(const Variant& variant, const DeviceLimits& limits,
                                        const Way& way) {
  auto configs = enumerate_candidates(variant, limits, way.family);
  std::erase_if(configs, [&](const auto& config) { return config.split_kv != way.split; });
  if (!configs.empty()) return configs;
  throw Error(ErrorCode::kNoLegalConfig, "family",
              "no legal " + std::string(way.name) + " for " + full_text(variant));
}

}  // namespace

KernelConfig fastest_config(const Problem& problem, const DeviceLimits& limits, const Way& way,
                            int most_rows) {
  auto configs = legal_configs(problem.variant, limits, way);
  std::erase_if(configs, [&](const auto& config) { return config.tile_m > most_rows; });
  const auto seconds = [&](const KernelConfig& config) {
    return predict(problem, config, limits).seconds;
  };
  return *std::min_element(
      configs.begin(), configs.end(),
      [&](const auto& left, const auto& right) { return seconds(left) < seconds(right); });
}

KernelConfig random_config(const Variant& variant, const DeviceLimits& limits, const Way& way,
                           std::uint64_t seed) {
  const auto configs = legal_configs(variant, limits, way);
  const auto text = canonical_text(variant) + std::string(way.name) + std::to_string(seed);
  return configs[std::hash<std::string>{}(text) % configs.size()];
}

Kernel load_kernel(Gpu& gpu, const Variant& variant, const KernelConfig& config) {
  const auto compiled = compile_config(gpu.compiler(), variant, config, gpu.limits());
  return {config, load_config(gpu.device(), variant, config, compiled)};
}

void compile_ahead(Gpu& gpu, const std::vector<KernelRequest>& requests) {
  std::atomic<std::size_t> next{0};
  const auto compile = [&] {
    for (std::size_t i = next++; i < requests.size(); i = next++) {
      try {
        compile_config(gpu.compiler(), requests[i].variant, requests[i].config, gpu.limits());
      } catch (const Error&) {
        // Loading meets the same error again, where it can be reported.
      }
    }
  };
  std::vector<std::jthread> threads(std::max(1u, std::thread::hardware_concurrency()));
  for (auto& thread : threads) thread = std::jthread(compile);
}

std::vector<KernelRequest> fastest_requests(const Problem& problem, const DeviceLimits& limits) {
  std::vector<KernelRequest> requests;
  for (const Way& way : kWays) {
    requests.push_back({problem.variant, fastest_config(problem, limits, way)});
  }
  return requests;
}

std::vector<KernelRequest> random_requests(const Variant& variant, const DeviceLimits& limits,
                                           std::uint64_t seed) {
  std::vector<KernelRequest> requests;
  for (const Way& way : kWays) {
    requests.push_back({variant, random_config(variant, limits, way, seed)});
  }
  return requests;
}

std::vector<Kernel> load_kernels(Gpu& gpu, const std::vector<KernelRequest>& requests) {
  compile_ahead(gpu, requests);
  std::vector<Kernel> kernels;
  for (const KernelRequest& request : requests) {
    kernels.push_back(load_kernel(gpu, request.variant, request.config));
  }
  return kernels;
}

}  // namespace heddle
