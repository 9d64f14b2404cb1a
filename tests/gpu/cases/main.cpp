// gpu_cases_test: inputs on which attention kernels are known to break, on a real GPU.
#define CATCH_CONFIG_RUNNER
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "generator/error.hpp"
#include "tests/gpu/cases/gpu.hpp"
#include "tests/gpu/cases/load_process.hpp"

namespace heddle {
namespace {

constexpr int kSkipped = 77;

bool is_missing(ErrorCode code) {
  return code == ErrorCode::kDriverMissing || code == ErrorCode::kDeviceMissing ||
         code == ErrorCode::kNvrtcMissing;
}

void announce(Gpu& gpu) {
  if (std::getenv("HEDDLE_SEED") == nullptr) {
    setenv("HEDDLE_SEED", std::to_string(std::random_device{}()).c_str(), 1);
  }
  const Nvrtc& nvrtc = gpu.compiler().nvrtc();
  std::printf("%s, driver %d, NVRTC %d.%d, HEDDLE_SEED=%s\n",
              gpu.device().driver().device_name(0).c_str(), gpu.device().driver().version(),
              nvrtc.major_version(), nvrtc.minor_version(), std::getenv("HEDDLE_SEED"));
  std::fflush(stdout);
}

int run(int count, char** arguments) {
  if (count == 2 && std::string(arguments[1]) == kLoadArgument) return load_gpu();
  Gpu gpu;  // keeps the primary context alive between the cases
  announce(gpu);
  Catch::Session session;
  session.configData().showDurations = Catch::ShowDurations::Always;
  // Not the number of failures, which may be 77.
  return session.run(count, arguments) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace heddle

int main(int count, char** arguments) try {
  return heddle::run(count, arguments);
} catch (const heddle::Error& error) {
  const bool missing = heddle::is_missing(error.code());
  std::printf("%s%s\n", missing ? "skipped: " : "error: ", error.what());
  return missing ? heddle::kSkipped : 1;
}
