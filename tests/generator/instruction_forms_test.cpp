// The generated matrix instructions: those asked for, and no other.
#include "generator/instruction_forms.hpp"

#include <catch2/catch.hpp>

#include "generator/error.hpp"

namespace heddle {
namespace {

using Catch::Contains;

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST_CASE("A kernel that asks for nothing special gets one mma.sync of its type") {
  const std::string text = instruction_forms({.dtype = DataType::kFp16});
  CHECK_THAT(text, Contains("m16n8k16.row.col.f32.f16.f16.f32 "));
  CHECK(count(text, "asm") == 1);
  CHECK(count(text, "wgmma") == 0);
  CHECK(count(text, "BFloat16") == 0);
}

TEST_CASE("Each wgmma shape becomes one form that sets and one that adds") {
  const std::string text =
      instruction_forms({.dtype = DataType::kBf16,
                         .mma = false,
                         .wgmma = {{.n = 80}, {.n = 128, .a = OperandSource::kRegisters}}});
  CHECK(count(text, "asm volatile") == 4);
  CHECK(count(text, "\"mma.sync") == 0);
  CHECK(count(text, "wgmma.mma_async.sync.aligned.m64n80k16.f32.bf16.bf16 ") == 2);
  CHECK(count(text, "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 ") == 2);
  CHECK(count(text, "wgmma_set(float (&d)[40], MatrixDescriptor a, MatrixDescriptor b, ") == 1);
  CHECK(count(text, "wgmma_add(float (&d)[64], const unsigned (&a)[4], MatrixDescriptor b, ") == 1);
  CHECK(count(text, "\"=f\"(") == 40 + 64);
  CHECK(count(text, "\"+f\"(") == 40 + 64);
}

TEST_CASE("8-bit forms are 32 deep and know no transposition") {
  const std::string text = instruction_forms({.dtype = DataType::kE4m3, .wgmma = {{.n = 256}}});
  CHECK_THAT(text, Contains("#include \"instruction/e4m3.cuh\""));
  CHECK_THAT(text, Contains("m16n8k32.row.col.f32.e4m3.e4m3.f32 "));
  CHECK_THAT(text, Contains("\"%128, %129, 0, 1, 1;\""));
  CHECK_THAT(text, Contains("static_assert(kMajorA == Major::kK && kMajorB == Major::kK, "));
}

TEST_CASE("A shape that the hardware does not have is refused") {
  for (const int n : {-8, 0, 4, 12, 100, 264}) {
    CHECK_THROWS_AS(instruction_forms({.wgmma = {{.n = n}}}), Error);
  }
}

TEST_CASE("The text keeps to the line length") {
  for (const DataType dtype : {DataType::kFp16, DataType::kBf16, DataType::kE4m3}) {
    const std::string text = instruction_forms(
        {.dtype = dtype, .wgmma = {{.n = 256}, {.n = 256, .a = OperandSource::kRegisters}}});
    std::size_t start = 0;
    for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
      INFO(text.substr(start, end - start));
      CHECK(end - start <= 100);
      start = end + 1;
    }
  }
}

}  // namespace
}  // namespace heddle
