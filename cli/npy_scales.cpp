#include "cli/npy.hpp"
#include "runtime/testing/scales.hpp"

namespace heddle {
namespace {

std::vector<float> read_factors(const NpySource& source, const ScaleField& field,
                                const Problem& problem) {
  NpyFile file(source);
  const NpyHeader header = file.read_header();
  if (header.descr != "<f4") {
    fail(source, "has element type '" + header.descr +
                     "'; give float32 (<f4): convert it with array.astype('float32')");
  }
  // NumPy saves a plain number with no dimension at all.
  const bool is_scalar = header.shape.empty() && field.extents == std::vector<long long>{1};
  if (header.shape != field.extents && !is_scalar) {
    fail(source, "has shape " + extents_text(header.shape) +
                     ", but scales=" + value_text(problem.variant.scales) +
                     " and the problem's sizes want " + extents_text(field.extents));
  }
  std::vector<float> factors(field.count());
  file.require_data(factors.size(), sizeof factors[0]);
  file.read(factors.data(), factors.size() * sizeof factors[0]);
  return factors;
}

}  // namespace

HostScales read_scales(const ScaleFiles& files, const Problem& problem) {
  HostScales scales;
  for (const ScaleField& field : scale_fields(problem)) {
    const std::string name(field.name);
    const auto given = files.find(name);
    if (given == files.end() || given->second.empty()) continue;
    const NpySource source{name, given->second};
    if (problem.variant.dtype != DataType::kE4m3) {
      fail(source, "was given, but only e4m3 inputs have scales, not " +
                       value_text(problem.variant.dtype) +
                       "; say --dtype e4m3 for uint8 files, or leave it out");
    }
    scales.*field.values = read_factors(source, field, problem);
  }
  return scales;
}

}  // namespace heddle
