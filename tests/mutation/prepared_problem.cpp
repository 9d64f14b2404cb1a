#include "tests/mutation/prepared_problem.hpp"

namespace heddle::mutation {

bool is_mutable(const std::string& header) {
  return header == "layout.cuh" || header == "warpgroup_layout.cuh" ||
         header == "quantiser_layout.cuh" || header == "mapped_parameters.cuh" ||
         header.starts_with("part/") || header.starts_with("kernel/");
}

void PreparedProblem::add(KernelSource source) {
  for (const SourceFile& header : source.headers) {
    if (is_mutable(header.name)) headers_.insert(header.name);
  }
  sources_.push_back(std::move(source));
}

}  // namespace heddle::mutation
