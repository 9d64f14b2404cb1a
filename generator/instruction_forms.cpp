#include "generator/instruction_forms.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "generator/error.hpp"

namespace heddle {
namespace {

/// What the forms of one element type have in common. Registers per thread follow from the shapes
/// (PTX ISA, "Matrix Fragments"): operands are packed two (or four) elements to a 32-bit register.
struct ElementForms {
  DataType dtype;
  std::string_view tag;        ///< element type that picks the overload
  std::string_view header;     ///< declares the tag
  std::string_view mma_shape;  ///< of mma.sync
  std::string_view ptx_type;   ///< "bf16"
  int wgmma_depth;
  bool transposable;  ///< wgmma takes operands whose depth runs over rows of shared memory
};

constexpr ElementForms kElementForms[] = {
    {DataType::kFp16, "Half", "types", "m16n8k16", "f16", 16, true},
    {DataType::kBf16, "BFloat16", "types", "m16n8k16", "bf16", 16, true},
    {DataType::kE4m3, "E4M3", "e4m3", "m16n8k32", "e4m3", 32, false},
};
constexpr int kMmaAccumulators = 4;
constexpr int kOperandA = 4;  ///< registers, for mma.sync and wgmma alike
constexpr int kMmaOperandB = 2;

const ElementForms& forms_of(DataType dtype) {
  return *std::find_if(std::begin(kElementForms), std::end(kElementForms),
                       [&](const ElementForms& forms) { return forms.dtype == dtype; });
}

/// "item(0), item(1)": `count` items, broken into lines (which `line_break` joins) every
/// `per_line`.
template <class Item>
std::string list(int count, int per_line, std::string_view line_break, Item item) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    if (i != 0) text += i % per_line == 0 ? line_break : ", ";
    text += item(i);
  }
  return text;
}

/// "%4, %5": `count` operand placeholders from `first` on, continued over lines of a string.
std::string placeholders(int first, int count) {
  return list(count, 12, ", \"\n      \"", [&](int i) { return fmt::format("%{}", first + i); });
}

/// "\"r\"(a[0]), \"r\"(a[1])": `count` operands of an array.
std::string operands(std::string_view constraint, std::string_view array, int count) {
  return list(count, 6, ",\n        ",
              [&](int i) { return fmt::format("\"{}\"({}[{}])", constraint, array, i); });
}

std::string mma_function(const ElementForms& form) {
  const int a_first = kMmaAccumulators;
  const int b_first = a_first + kOperandA;
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
      fmt::arg("shape", form.mma_shape), fmt::arg("d", kMmaAccumulators), fmt::arg("a", kOperandA),
      fmt::arg("b", kMmaOperandB), fmt::arg("tag", form.tag), fmt::arg("type", form.ptx_type),
      fmt::arg("d_list", placeholders(0, kMmaAccumulators)),
      fmt::arg("a_list", placeholders(a_first, kOperandA)),
      fmt::arg("b_list", placeholders(b_first, kMmaOperandB)),
      fmt::arg("d_operands", operands("+f", "d", kMmaAccumulators)),
      fmt::arg("a_operands", operands("r", "a", kOperandA)),
      fmt::arg("b_operands", operands("r", "b", kMmaOperandB)));
}

/// The parts of a wgmma's text that depend on where its first operand is.
struct WgmmaOperands {
  std::string majors;      ///< template parameters
  std::string parameter;   ///< declares `a`
  std::string inputs;      ///< asm operands of a, b and the majors
  std::string list;        ///< placeholders of a and b
  std::string transposes;  ///< placeholders of the majors
};

WgmmaOperands wgmma_operands(const ElementForms& form, const WgmmaShape& shape) {
  const bool shared = shape.a == OperandSource::kShared;
  const int a_first = shape.n / 2;
  const int b_first = a_first + (shared ? 1 : kOperandA);
  WgmmaOperands text;
  text.majors = shared ? "Major kMajorA, Major kMajorB" : "Major kMajorB";
  text.parameter =
      shared ? "MatrixDescriptor a" : fmt::format("const unsigned (&a)[{}]", kOperandA);
  text.inputs = shared ? "\"l\"(a.bits)" : operands("r", "a", kOperandA);
  text.inputs += ", \"l\"(b.bits)";
  const std::string a_list = placeholders(a_first, shared ? 1 : kOperandA);
  text.list = fmt::format(fmt::runtime(shared ? "{}, %{}" : "{{{}}}, %{}"), a_list, b_first);
  if (!form.transposable) return text;
  text.transposes = shared ? fmt::format(", %{}, %{}", b_first + 1, b_first + 2)
                           : fmt::format(", %{}", b_first + 1);
  if (shared) text.inputs += ",\n        \"n\"(static_cast<int>(kMajorA))";
  text.inputs += ", \"n\"(static_cast<int>(kMajorB))";
  return text;
}

std::string majors_check(const ElementForms& form, const WgmmaShape& shape) {
  if (form.transposable) return {};
  const bool shared = shape.a == OperandSource::kShared;
  return fmt::format("  static_assert({}kMajorB == Major::kK, \"8-bit operands are k-major\");\n",
                     shared ? "kMajorA == Major::kK && " : "");
}

/// `adds`: d += a * b; else d = a * b, whatever d held.
std::string wgmma_function(const ElementForms& form, const WgmmaShape& shape, bool adds) {
  const WgmmaOperands text = wgmma_operands(form, shape);
  const int accumulators = shape.n / 2;
  return fmt::format(
      R"(/// d {assign} a * b, one warpgroup, m64n{n}k{k}; a in {place}.
template <{majors}>
inline void wgmma_{name}(float (&d)[{d}], {a}, MatrixDescriptor b, {tag}) {{
{check}  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n{n}k{k}.f32.{type}.{type} "
      "{{{d_list}}}, "
      "{list}, {scale_d}, 1, 1{transposes};"
      : {d_operands}
      : {inputs});
}}
)",
      fmt::arg("assign", adds ? "+=" : "="), fmt::arg("n", shape.n),
      fmt::arg("k", form.wgmma_depth), fmt::arg("majors", text.majors),
      fmt::arg("place", shape.a == OperandSource::kShared ? "shared memory" : "registers"),
      fmt::arg("name", adds ? "add" : "set"), fmt::arg("d", accumulators),
      fmt::arg("a", text.parameter), fmt::arg("tag", form.tag),
      fmt::arg("check", majors_check(form, shape)), fmt::arg("type", form.ptx_type),
      fmt::arg("d_list", placeholders(0, accumulators)), fmt::arg("list", text.list),
      fmt::arg("scale_d", adds ? 1 : 0), fmt::arg("transposes", text.transposes),
      fmt::arg("d_operands", operands(adds ? "+f" : "=f", "d", accumulators)),
      fmt::arg("inputs", text.inputs));
}

void require_valid(const WgmmaShape& shape) {
  if (shape.n >= 8 && shape.n <= 256 && shape.n % 8 == 0) return;
  throw Error(ErrorCode::kInternal, "n",
              fmt::format("wgmma has no form m64n{}: n is a multiple of 8 from 8 to 256", shape.n));
}

}  // namespace

std::string instruction_forms(const InstructionRequest& request) {
  const ElementForms& form = forms_of(request.dtype);
  std::string text =
      "#pragma once\n"
      "// Generated: the matrix instructions this kernel uses.\n";
  text += fmt::format("#include \"instruction/{}.cuh\"\n", form.header);
  if (!request.wgmma.empty()) text += "#include \"instruction/wgmma.cuh\"\n";
  text += "\nnamespace heddle {\n\n";
  if (request.mma) text += mma_function(form);
  for (const WgmmaShape& shape : request.wgmma) {
    require_valid(shape);
    text += wgmma_function(form, shape, false) + wgmma_function(form, shape, true);
  }
  return text + "\n}  // namespace heddle\n";
}

}  // namespace heddle
