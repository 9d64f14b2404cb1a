// The kernels of these tests are kernels: NVRTC takes the same texts.
#include <catch2/catch.hpp>

#include "tests/host/test_kernel.hpp"
#include "tests/templates/compiled.hpp"

namespace heddle {
namespace {

TEST_CASE("NVRTC compiles what the host runs") {
  for (const char* file : {"pipeline.cu", "faults.cu", "softmax.cu"}) {
    const Nvrtc::Output output = compile_source(test_source(file, ""));
    INFO(file << '\n' << output.log);
    CHECK(output.status == 0);
    CHECK_FALSE(output.cubin.empty());
  }
}

}  // namespace
}  // namespace heddle
