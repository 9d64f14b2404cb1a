// A kernel of TMA, transaction barriers, wgmma and register hand-over: right under every schedule,
// and each of its ways to be wrong is found.
#include <catch2/catch.hpp>
#include <cstring>
#include <iostream>
#include <random>

#include "runtime/host/device/host_round.cuh"
#include "runtime/host/tensor_map.hpp"
#include "tests/host/test_kernel.hpp"

namespace heddle {
namespace {

constexpr int kHeadDim = 64, kQueries = 100, kKeys = 342, kHeads = 1, kTileM = 128, kTileN = 64;

using Matrix = std::vector<unsigned short>;

Matrix small_integers(int rows, unsigned seed) {
  std::mt19937 random(seed);
  Matrix matrix(static_cast<std::size_t>(rows * kHeadDim) + 128);
  for (auto& element : matrix) {
    element = host::bf16_bits(static_cast<float>(static_cast<int>(random() % 5) - 2));
  }
  return matrix;
}

/// The storage's first multiple of 128 bytes.
unsigned short* aligned(Matrix& matrix) {
  const auto address = reinterpret_cast<std::uintptr_t>(matrix.data());
  return matrix.data() + (128 - address % 128) / 2;
}

struct Attention {
  Matrix query = small_integers(kQueries, 1), key = small_integers(kKeys, 2),
         value = small_integers(kKeys, 3), output = Matrix(query.size(), 0xffff);

  TensorMap map(Matrix& matrix, int rows, int box_rows) {
    TensorMapRequest request;
    request.type = TensorMapType::kBFloat16;
    request.rank = 3;
    request.address = aligned(matrix);
    request.dims = {kHeadDim, static_cast<std::uint64_t>(rows), kHeads};
    request.strides = {2 * kHeadDim, 2 * kHeadDim * static_cast<std::uint64_t>(rows)};
    request.box = {64, static_cast<std::uint32_t>(box_rows), 1};
    request.swizzle = Swizzle::k128;
    return host::encode_tensor_map(request);
  }
  HostBuffer buffer(Matrix& matrix, int rows, const char* name, BufferAccess access) {
    return {aligned(matrix), 2ul * kHeadDim * static_cast<std::size_t>(rows), name, access};
  }

  TestKernels::Launch launch(const Schedule& schedule) {
    TestKernels::Launch launch;
    launch.grid = {(kQueries + kTileM - 1) / kTileM, {384, 16384 + 4 * 8192 + 72, 168}};
    launch.arguments.maps[0] = map(query, kQueries, kTileM);
    launch.arguments.maps[1] = map(key, kKeys, kTileN);
    launch.arguments.maps[2] = map(value, kKeys, kTileN);
    launch.arguments.maps[3] = map(output, kQueries, 64);
    launch.arguments.numbers[0] = (kKeys + kTileN - 1) / kTileN;
    launch.buffers = {buffer(query, kQueries, "Q", BufferAccess::kRead),
                      buffer(key, kKeys, "K", BufferAccess::kRead),
                      buffer(value, kKeys, "V", BufferAccess::kRead),
                      buffer(output, kQueries, "O", BufferAccess::kReadWrite)};
    launch.schedule = schedule;
    return launch;
  }

  int wrong_results() {
    const auto at = [](Matrix& matrix, int row, int column) {
      return static_cast<int>(host::bf16_value(aligned(matrix)[row * kHeadDim + column]));
    };
    int wrong = 0;
    for (int i = 0; i < kQueries; ++i) {
      int sums[kHeadDim] = {};
      for (int j = 0; j < kKeys; ++j) {
        int score = 0;
        for (int d = 0; d < kHeadDim; ++d) score += at(query, i, d) * at(key, j, d);
        for (int d = 0; d < kHeadDim; ++d) sums[d] += score * at(value, j, d);
      }
      for (int d = 0; d < kHeadDim; ++d) {
        const auto expected = host::bf16_bits(static_cast<float>(sums[d]));
        wrong += aligned(output)[i * kHeadDim + d] != expected;
      }
    }
    return wrong;
  }
};

struct Fixture {
  HostCompiler compiler;
  TestKernels kernels{compiler, "pipeline.cu", "pipeline"};

  std::vector<HostFault> run(const std::string& entry, const Schedule& schedule, int* wrong) {
    Attention attention;
    auto faults = kernels.run(entry, attention.launch(schedule));
    if (wrong != nullptr) *wrong = attention.wrong_results();
    return faults;
  }
};

TEST_CASE_METHOD(Fixture, "A pipeline is right under every schedule") {
  for (const Landing landing : {Landing::kLatest, Landing::kEarliest, Landing::kRandom}) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      int wrong = -1;
      const auto faults = run("pipeline", {seed, landing}, &wrong);
      INFO(enum_name(landing) << ", seed " << seed << '\n' << describe(faults));
      REQUIRE(faults.empty());
      REQUIRE(wrong == 0);
    }
  }
}

struct Expectation {
  const char* entry;
  FaultKind kind;
  const char* place;  ///< part of the line that the report names
  const char* text;   ///< part of it
};

const Expectation kExpectations[] = {
    {"no_init_fence", FaultKind::kProxy, "load_tile(shared.query", "fence_barrier_init"},
    {"no_wait_for_keys", FaultKind::kCopyInFlight, "wgmma_set", "copies onto the barrier"},
    {"no_query_wait", FaultKind::kCopyInFlight, "wgmma_set", "copies onto the barrier"},
    {"too_few_bytes", FaultKind::kTransaction, "load_tile(shared.key", "expects 4096 bytes, 8192"},
    {"too_many_bytes", FaultKind::kTransaction, "load_tile(shared.key",
     "expects 16384 bytes, 8192"},
    {"early_release", FaultKind::kOperandInFlight, "load_tile(shared.value", "the wgmma of warp"},
    {"no_wait_for_room", FaultKind::kCopyInFlight, "load_tile(shared.key",
     "copies onto the barrier"},
    {"wrong_parity", FaultKind::kDeadlock, "wait(shared.", "waits for phase"},
    {"no_product_fence", FaultKind::kOperandInFlight, "wgmma_set", "no wgmma_fence()"},
    {"unnamed_operand", FaultKind::kOperandInFlight, "wgmma_add", "did not name"},
    {"scores_before_wait", FaultKind::kOperandInFlight, "wgmma_wait<1>(s)", "before wgmma_wait()"},
    {"operand_before_wait", FaultKind::kOperandInFlight, "wgmma_wait<0>(o, p)",
     "before wgmma_wait()"},
    {"unnamed_result", FaultKind::kOperandInFlight, "wgmma_wait<1>()", "does not name"},
    {"no_proxy_fence", FaultKind::kProxy, "store_tile", "fence_async_shared"},
    {"no_team_barrier", FaultKind::kDataRace, "store_tile", "nothing orders them"},
    {"no_store_wait", FaultKind::kCopyInFlight, "store_tile", "before this store"},
    {"too_many_registers", FaultKind::kRegisterPool, "increase_registers", "launched with 168"},
    {"one_warp_ahead", FaultKind::kDeadlock, "wgmma_set", "for its warpgroup"},
};

TEST_CASE_METHOD(Fixture, "Each way to be wrong is found, and named") {
  for (const Expectation& expected : kExpectations) {
    for (const Landing landing : {Landing::kLatest, Landing::kEarliest, Landing::kRandom}) {
      const auto faults = run(expected.entry, {3, landing}, nullptr);
      INFO(expected.entry << ", " << enum_name(landing) << '\n' << describe(faults));
      bool found = false;
      for (const HostFault& fault : faults) {
        found =
            found || (fault.kind == expected.kind && fault.warp >= 0 &&
                      kernels.line_of(fault.location).find(expected.place) != std::string::npos &&
                      fault.text.find(expected.text) != std::string::npos);
      }
      CHECK(found);
    }
  }
}

TEST_CASE_METHOD(Fixture, "A wrong field of a descriptor reads wrong bytes") {
  int wrong = 0;
  run("wrong_stride", {1, Landing::kLatest}, &wrong);
  CHECK(wrong > 1000);
}

}  // namespace
}  // namespace heddle
