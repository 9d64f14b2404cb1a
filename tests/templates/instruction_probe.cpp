// instruction_probe FILE ARCHITECTURE [DTYPE [N/SOURCE…]]: compiles FILE with the embedded
// templates and the matrix instructions asked for (64/shared, 64/registers: wgmma shapes), prints
// the PTX. "element.cuh" names DTYPE's type Element. Fails where NVRTC does, where ptxas makes no
// cubin or serialises a wgmma.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "generator/instruction_forms.hpp"
#include "generator/template_library.hpp"
#include "tests/templates/compiled.hpp"

namespace heddle {
namespace {

WgmmaShape wgmma_shape(const std::string& text) {
  const auto slash = text.find('/');
  const bool registers = text.substr(slash + 1) == "registers";
  return {.n = std::atoi(text.c_str()),
          .a = registers ? OperandSource::kRegisters : OperandSource::kShared};
}

std::string_view element_type(DataType dtype) {
  if (dtype == DataType::kE4m3) return "heddle::E4M3";
  return dtype == DataType::kFp16 ? "heddle::Half" : "heddle::BFloat16";
}

KernelSource probe_source(const std::string& path, const std::string& architecture,
                          const InstructionRequest& request) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) throw std::runtime_error("cannot read " + path);
  KernelSource source;
  source.architecture = architecture;
  source.main = {"probe.cu", text.str()};
  source.headers.push_back({"instruction_forms.cuh", instruction_forms(request)});
  source.headers.push_back(
      {"element.cuh", "using Element = " + std::string(element_type(request.dtype)) + ";\n"});
  for (const EmbeddedTemplate& file : embedded_templates()) {
    source.headers.push_back({std::string(file.name), std::string(file.text)});
  }
  return source;
}

int probe(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) throw std::runtime_error("FILE ARCHITECTURE [DTYPE [N/SOURCE...]]");
  InstructionRequest request;
  if (arguments.size() > 2) parse_value(arguments[2], request.dtype);
  for (std::size_t i = 3; i < arguments.size(); ++i) {
    request.wgmma.push_back(wgmma_shape(arguments[i]));
  }
  const auto output = compile_source(probe_source(arguments[0], arguments[1], request));
  const bool serialised = output.log.find("C75") != std::string::npos;
  if (output.status == 0 && !output.cubin.empty() && !serialised) {
    std::cout << output.ptx;
    return 0;
  }
  std::cerr << output.stage << ' ' << output.status_name << '\n' << output.log;
  return 1;
}

}  // namespace
}  // namespace heddle

int main(int count, char** arguments) try {
  return heddle::probe({arguments + 1, arguments + count});
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
