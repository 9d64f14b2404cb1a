#include "tests/gpu/twin_case.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace heddle {
namespace {

/// fp32 in the order of their bits: neighbours differ by one.
std::int64_t rank(float value) {
  std::int32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits < 0 ? -static_cast<std::int64_t>(bits & 0x7fffffff) : bits;
}

std::string_view element_type(DataType dtype) {
  if (dtype == DataType::kE4m3) return "heddle::E4M3";
  return dtype == DataType::kFp16 ? "heddle::Half" : "heddle::BFloat16";
}

}  // namespace

std::vector<TwinCase> twin_cases() {
  std::vector<TwinCase> cases;
  add_warp_cases(cases);
  add_element_cases(cases);
  add_memory_cases(cases);
  add_tensor_cases(cases);
  add_matrix_cases(cases);
  return cases;
}

Bytes random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<unsigned char>(random()); });
  return bytes;
}

KernelSource twin_source(const TwinCase& twin) {
  KernelSource source;
  source.entry = twin.entry;
  source.architecture = "sm_90a";
  InstructionRequest request;
  request.dtype = twin.dtype;
  request.wgmma = twin.wgmma;
  source.headers = {
      {"instruction_forms.cuh", instruction_forms(request)},
      {"element.cuh", "using Element = " + std::string(element_type(twin.dtype)) + ";\n"}};
  for (const EmbeddedTemplate& file : embedded_twins()) {
    SourceFile text{std::string(file.name.substr(file.name.rfind('/') + 1)),
                    std::string(file.text)};
    if (text.name == twin.file) {
      source.main = std::move(text);
    } else if (text.name == "arguments.cuh") {
      source.headers.push_back(std::move(text));
    }
  }
  for (const EmbeddedTemplate& header : embedded_templates()) {
    source.headers.push_back({std::string(header.name), std::string(header.text)});
  }
  return source;
}

TwinDifference difference(const Bytes& left, const Bytes& right, const TwinBound& bound) {
  const auto a = values_of<float>(left);
  const auto b = values_of<float>(right);
  TwinDifference result;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (std::memcmp(&a[i], &b[i], sizeof(float)) == 0) continue;
    ++result.words;
    const bool both_nan = std::isnan(a[i]) && std::isnan(b[i]);
    const double ulps = std::abs(static_cast<double>(rank(a[i]) - rank(b[i])));
    const double absolute = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    const bool numbers = std::isfinite(a[i]) && std::isfinite(b[i]);
    if (numbers) {
      result.worst_ulps = std::max(result.worst_ulps, ulps);
      result.worst_absolute = std::max(result.worst_absolute, absolute);
    }
    const bool close = numbers && (ulps <= bound.ulps || absolute <= bound.absolute);
    if (!bound.bitwise() && (close || both_nan)) continue;
    if (result.beyond++ == 0) result.first = i;
  }
  return result;
}

}  // namespace heddle
