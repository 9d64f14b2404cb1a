#include "generator/instruction_forms.hpp"

#include <span>
#include <string_view>

#include <fmt/format.h>

namespace heddle {
namespace {

/// One row per form of `mma.sync`: registers per thread follow from the shape (PTX ISA, "Matrix
/// Fragments"). Operands are packed two (or four) elements to a 32-bit register.
struct MmaForm {
  DataType dtype;
  std::string_view tag;       ///< element type that picks the overload
  std::string_view shape;     ///< "m16n8k16"
  std::string_view ptx_type;  ///< "bf16"
  int a_registers;
  int b_registers;
};

constexpr MmaForm kMmaForms[] = {
    {DataType::kFp16, "Half", "m16n8k16", "f16", 4, 2},
    {DataType::kBf16, "BFloat16", "m16n8k16", "bf16", 4, 2},
};
constexpr int kAccumulators = 4;

/// "%4, %5": `count` operand placeholders from `first` on.
std::string placeholders(int first, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{}%{}", i == 0 ? "" : ", ", first + i);
  return text;
}

/// "\"r\"(a[0]), \"r\"(a[1])": `count` operands of an array.
std::string operands(std::string_view constraint, std::string_view array, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += fmt::format("{}\"{}\"({}[{}])", i == 0 ? "" : ", ", constraint, array, i);
  }
  return text;
}

std::string mma_function(const MmaForm& form) {
  const int a_first = kAccumulators;
  const int b_first = a_first + form.a_registers;
  return fmt::format(
      R"(/// d += a * b, one warp, {shape}.
inline void mma_{shape}(float (&d)[{d}], const unsigned (&a)[{a}], const unsigned (&b)[{b}], {tag}) {{
  asm(
      "mma.sync.aligned.{shape}.row.col.f32.{type}.{type}.f32 "
      "{{{d_list}}}, {{{a_list}}}, {{{b_list}}}, {{{d_list}}};"
      : {d_operands}
      : {a_operands},
        {b_operands});
}}
)",
      fmt::arg("shape", form.shape), fmt::arg("d", kAccumulators), fmt::arg("a", form.a_registers),
      fmt::arg("b", form.b_registers), fmt::arg("tag", form.tag), fmt::arg("type", form.ptx_type),
      fmt::arg("d_list", placeholders(0, kAccumulators)),
      fmt::arg("a_list", placeholders(a_first, form.a_registers)),
      fmt::arg("b_list", placeholders(b_first, form.b_registers)),
      fmt::arg("d_operands", operands("+f", "d", kAccumulators)),
      fmt::arg("a_operands", operands("r", "a", form.a_registers)),
      fmt::arg("b_operands", operands("r", "b", form.b_registers)));
}

}  // namespace

std::string instruction_forms(DataType dtype) {
  std::string text =
      "#pragma once\n"
      "// Generated: the matrix instructions this kernel uses.\n"
      "#include \"instruction/types.cuh\"\n\n"
      "namespace heddle {\n\n";
  for (const MmaForm& form : kMmaForms) {
    if (form.dtype == dtype) text += mma_function(form);
  }
  return text + "\n}  // namespace heddle\n";
}

}  // namespace heddle
