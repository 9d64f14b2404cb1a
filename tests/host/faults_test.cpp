// Every kind of fault: a small kernel that commits it is reported by kind, warp and line.
#include <catch2/catch.hpp>

#include "tests/host/test_kernel.hpp"

namespace heddle {
namespace {

constexpr int kThreads = 64, kBlocks = 2, kSharedBytes = 4096 + 16;

struct Expectation {
  const char* entry;
  FaultKind kind;
  const char* text;  ///< part of the report
  int threads = kThreads;
};

const Expectation kExpectations[] = {
    {"past_the_end", FaultKind::kOutOfBounds, "past the end of input"},
    {"past_shared_memory", FaultKind::kOutOfBounds, "past the end of shared memory"},
    {"struct_past_the_end", FaultKind::kOutOfBounds, "past the end of input"},
    {"past_an_array", FaultKind::kOutOfBounds, "an index beyond its array"},
    {"divided_by_zero", FaultKind::kOutOfBounds, "a division by 0"},
    {"write_to_input", FaultKind::kReadOnly, "write of 4 bytes to input"},
    {"misaligned", FaultKind::kMisaligned, "read of 8 bytes"},
    {"shared_race", FaultKind::kDataRace, "nothing orders them"},
    {"block_race", FaultKind::kBlockRace, "of output at byte"},
    {"plain_counter", FaultKind::kBlockRace, "of output at byte 0"},
    {"diverged", FaultKind::kDivergence, "lanes 0-15 are at vote, lanes 16-31 have ended"},
    {"diverged_barrier", FaultKind::kDivergence, "lanes 3-3 are at __syncwarp"},
    {"read_too_early", FaultKind::kCopyInFlight, "before its copy was waited for"},
    {"team_too_small", FaultKind::kBarrierMisuse, "barrier 1 with"},
    {"missing_arrival", FaultKind::kDeadlock, "warp 0 to 1 waits for phase 0"},
    {"one_arrival_too_many", FaultKind::kBarrierMisuse, "has had its 1 arrivals"},
    {"overrun", FaultKind::kBarrierMisuse, "overrun"},
    {"overrun_asleep", FaultKind::kBarrierMisuse, "overrun"},
    {"no_barrier_there", FaultKind::kBarrierMisuse, "no barrier was initialised at offset 4096"},
    {"barrier_not_shown", FaultKind::kBarrierMisuse, "nothing orders"},
    {"barrier_bytes_read", FaultKind::kBarrierMisuse, "a barrier's own bytes"},
    {"copy_over_readers", FaultKind::kDataRace, "collides with a read by"},
    {"copy_over_writes", FaultKind::kProxy, "overwrites what"},
    {"wrong_barrier", FaultKind::kCopyInFlight, "copies onto the barrier at offset 4096"},
    {"never_waited", FaultKind::kCopyInFlight, "nobody has waited"},
    {"copy_of_odd_size", FaultKind::kMisaligned, "a copy of 20 bytes"},
    {"written_while_stored", FaultKind::kCopyInFlight, "a store by warp 0, lane 0 may still read"},
    {"poll_for_ever", FaultKind::kDeadlock, "polls"},
    {"register_increase_alone", FaultKind::kRegisterPool, "waits for 64 registers", 128},
};

struct Memory {
  alignas(256) int input[kThreads];
  int gap[1024];
  alignas(256) int output[kBlocks * kThreads];
};

struct Fixture {
  HostCompiler compiler;
  TestKernels kernels{compiler, "faults.cu", "right"};
  Memory memory{};

  std::vector<HostFault> run(const Expectation& expected, const Schedule& schedule) {
    for (int i = 0; i < kThreads; ++i) memory.input[i] = i;
    TestKernels::Launch launch;
    launch.grid = {kBlocks, {expected.threads, kSharedBytes, 32}};
    launch.arguments.pointers[0] = memory.input;
    launch.arguments.pointers[1] = memory.output;
    launch.arguments.numbers[0] = 16;
    launch.arguments.numbers[1] = kSharedBytes;
    launch.buffers = {{memory.input, sizeof memory.input, "input", BufferAccess::kRead},
                      {memory.output, sizeof memory.output, "output", BufferAccess::kReadWrite}};
    launch.schedule = schedule;
    return kernels.run(expected.entry, launch);
  }
};

TEST_CASE_METHOD(Fixture, "A kernel that behaves is not blamed") {
  for (const Landing landing : {Landing::kLatest, Landing::kEarliest, Landing::kRandom}) {
    const auto faults = run({"right", {}, ""}, {1, landing});
    INFO(describe(faults));
    CHECK(faults.empty());
    CHECK(memory.output[5] == (5 ^ 33));
    const auto handed_on = run({"handed_on", {}, ""}, {1, landing});
    INFO(describe(handed_on));
    CHECK(handed_on.empty());
    CHECK(memory.output[64 + 5] == 5 + 3);
    memory.output[0] = 0;
    CHECK(run({"counted", {}, ""}, {1, landing}).empty());
    CHECK(memory.output[0] == kBlocks);
  }
}

TEST_CASE_METHOD(Fixture, "Each fault is found, with warp and line") {
  for (const Expectation& expected : kExpectations) {
    for (const Landing landing : {Landing::kLatest, Landing::kEarliest, Landing::kRandom}) {
      const auto faults = run(expected, {5, landing});
      INFO(expected.entry << ", " << enum_name(landing) << '\n' << describe(faults));
      bool found = false;
      for (const HostFault& fault : faults) {
        const std::string line = kernels.line_of(fault.location);
        found = found || (fault.kind == expected.kind && fault.warp >= 0 &&
                          line.find("WRONG") != std::string::npos &&
                          fault.text.find(expected.text) != std::string::npos);
      }
      CHECK(found);
    }
  }
}

}  // namespace
}  // namespace heddle
