#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/services.hpp"
#include "runtime/driver.hpp"

namespace heddle {
namespace {

struct DevicesOptions {
  ServiceFlags services;
  bool json = false;
  bool require_gpu = false;
};

nlohmann::json gpu_json(const Driver& driver, int index) {
  const DeviceLimits limits = driver.device_limits(index);
  return {{"index", index},
          {"name", driver.device_name(index)},
          {"architecture", limits.architecture},
          {"sm_count", limits.sm_count},
          {"shared_bytes_per_block", limits.shared_bytes_per_block},
          {"l2_bytes", limits.l2_bytes}};
}

/// Driver and GPUs, or what is missing; `found` tells whether there is a GPU.
nlohmann::json describe_driver(const ServiceFlags& services, bool& found) {
  try {
    const auto driver = Driver::load(services.driver_path());
    nlohmann::json json{
        {"version", fmt::format("{}.{}", driver->version() / 1000, driver->version() % 1000 / 10)},
        {"gpus", nlohmann::json::array()}};
    for (int i = 0; i < driver->device_count(); ++i) json["gpus"].push_back(gpu_json(*driver, i));
    found = driver->device_count() > 0;
    return json;
  } catch (const Error& error) {
    return {{"missing", error.what()}};
  }
}

nlohmann::json describe_nvrtc(const ServiceFlags& services) {
  try {
    const auto nvrtc = Nvrtc::load(services.compiler_options().nvrtc_path);
    return {{"version", fmt::format("{}.{}", nvrtc->major_version(), nvrtc->minor_version())},
            {"path", nvrtc->library_path()},
            {"build_id", nvrtc->build_id()}};
  } catch (const Error& error) {
    return {{"missing", error.what()}};
  }
}

void print(const nlohmann::json& report) {
  const auto& driver = report["driver"];
  if (driver.contains("missing")) {
    std::cout << "driver: " << driver["missing"].get<std::string>() << '\n';
  } else {
    std::cout << "driver: CUDA " << driver["version"].get<std::string>() << '\n';
    for (const auto& gpu : driver["gpus"]) {
      std::cout << fmt::format("GPU {}: {}, {}, {} SMs\n", gpu["index"].get<int>(),
                               gpu["name"].get<std::string>(),
                               gpu["architecture"].get<std::string>(), gpu["sm_count"].get<int>());
    }
  }
  const auto& nvrtc = report["nvrtc"];
  if (nvrtc.contains("missing")) {
    std::cout << "NVRTC: " << nvrtc["missing"].get<std::string>() << '\n';
  } else {
    std::cout << fmt::format("NVRTC: {} at {}\n", nvrtc["version"].get<std::string>(),
                             nvrtc["path"].get<std::string>());
  }
  std::cout << "results: " << report["results"].get<std::string>() << '\n'
            << "cubins: " << report["cubins"].get<std::string>() << '\n';
}

int run_devices(const DevicesOptions& options) {
  bool gpu_found = false;
  nlohmann::json report;
  report["driver"] = describe_driver(options.services, gpu_found);
  report["nvrtc"] = describe_nvrtc(options.services);
  report["results"] = options.services.results_options().path;
  report["cubins"] = options.services.compiler_options().cache.path;
  if (options.json) {
    std::cout << report.dump(2) << '\n';
  } else {
    print(report);
  }
  return options.require_gpu && !gpu_found ? kExitMachineLacks : kExitDone;
}

}  // namespace

void register_devices(const CommandSink& sink) {
  auto options = std::make_shared<DevicesOptions>();
  CLI::App& verb = sink.add("devices", "the GPUs, driver and NVRTC in use, and what is missing",
                            [options] { return run_devices(*options); });
  options->services.add_to(verb);
  verb.add_flag("--json", options->json, "print JSON");
  verb.add_flag("--require-gpu", options->require_gpu, "exit 3 where there is no GPU");
}

}  // namespace heddle
