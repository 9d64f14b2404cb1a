#include "runtime/compiler.hpp"

#include <catch2/catch.hpp>

namespace heddle {
namespace {

// As NVRTC 13.0 printed it for a file with two kernels.
constexpr const char* kTwoKernels =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'first' for 'sm_90a'\n"
    "ptxas info    : Function properties for first\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 8 registers, used 0 barriers\n"
    "ptxas info    : Compile time = 2.124 ms\n"
    "ptxas info    : Compiling entry function 'first_of_two' for 'sm_90a'\n"
    "ptxas info    : Function properties for first_of_two\n"
    "ptxas         .     24 bytes stack frame, 20 bytes spill stores, 28 bytes spill loads\n"
    "ptxas info    : Used 168 registers, used 1 barriers, 24 bytes cumulative stack size, "
    "1024 bytes smem, 400 bytes cmem[0]\n";

TEST_CASE("each kernel of a log has its own figures") {
  const CompileNotes first = parse_compile_log(kTwoKernels, "first");
  CHECK(first.registers == 8);
  CHECK(first.spill_store_bytes == 0);
  CHECK(first.static_shared_bytes == 0);
  const CompileNotes second = parse_compile_log(kTwoKernels, "first_of_two");
  CHECK(second.registers == 168);
  CHECK(second.stack_bytes == 24);
  CHECK(second.spill_store_bytes == 20);
  CHECK(second.spill_load_bytes == 28);
  CHECK(second.static_shared_bytes == 1024);
  CHECK(parse_compile_log(kTwoKernels, "third").registers == 0);
  CHECK(parse_compile_log("", "first").registers == 0);
}

TEST_CASE("the older layout of the properties line is read too") {
  const CompileNotes notes = parse_compile_log(
      "ptxas info    : Compiling entry function 'kernel' for 'sm_80'\r\n"
      "ptxas info    : Function properties for kernel\r\n"
      "    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\r\n"
      "ptxas info    : Used 255 registers, 380 bytes cmem[0]\r\n",
      "kernel");
  CHECK(notes.registers == 255);
  CHECK(notes.stack_bytes == 8);
  CHECK(notes.spill_store_bytes == 4);
  CHECK(notes.spill_load_bytes == 4);
}

TEST_CASE("functions that were not inlined count with their kernel") {
  const CompileNotes notes = parse_compile_log(
      "ptxas info    : Compiling entry function 'kernel' for 'sm_90a'\n"
      "ptxas info    : Function properties for kernel\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Function properties for helper\n"
      "ptxas         .     16 bytes stack frame, 24 bytes spill stores, 24 bytes spill loads\n"
      "ptxas info    : Used 64 registers, used 0 barriers\n",
      "kernel");
  CHECK(notes.spill_store_bytes == 24);
  CHECK(notes.stack_bytes == 16);
}

TEST_CASE("performance remarks are kept and reject the kernel (C87)") {
  const std::string serialised =
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized due to insufficient register resources for the wgmma pipeline in function "
      "'kernel'";
  const std::string ignored =
      "ptxas info    : (C7508) setmaxnreg is ignored to maintain minimum register requirements";
  const CompileNotes notes = parse_compile_log(serialised + "\n" + ignored + "\n", "kernel");
  CHECK(notes.remarks == serialised + "\n" + ignored);
  const auto rejection = reject_notes(notes);
  REQUIRE(rejection);
  CHECK(rejection->reason == serialised);
  CHECK_FALSE(rejection->unsupported);
}

TEST_CASE("remarks without a code are recognised, other lines are not") {
  CHECK(reject_notes(parse_compile_log(
      "ptxas warning : setmaxnreg ignored; unable to determine register count at entry\n", "k")));
  CHECK(reject_notes(parse_compile_log("Potential Performance Loss: 'wgmma' serialized\n", "k")));
  const char* harmless = "ptxas info    : Function properties for C75xx_and_C7\n0xC7512 gmem\n";
  CHECK(parse_compile_log(harmless, "k").remarks.empty());
}

TEST_CASE("more than 16 bytes of spill reject, fewer are for measurement to judge") {
  CompileNotes notes;
  notes.registers = 255;
  CHECK_FALSE(reject_notes(notes));
  notes.spill_store_bytes = 16;
  notes.spill_load_bytes = 16;
  CHECK_FALSE(reject_notes(notes));
  notes.spill_load_bytes = 20;
  const auto rejection = reject_notes(notes);
  REQUIRE(rejection);
  CHECK(rejection->field == "spill");
  CHECK_THAT(rejection->reason, Catch::Contains("20 bytes") && Catch::Contains("255"));
}

}  // namespace
}  // namespace heddle
