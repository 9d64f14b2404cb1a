#pragma once
// The inputs on which attention kernels are known to break, as data: host, GPU and unit tests walk
// the same list. C03, C09 ... are numbers of the fault catalogue.

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "runtime/testing/reference.hpp"

namespace heddle {

/// What queries [first_query, end_query) of a head must give, known without any engine.
struct ExpectedRows {
  int first_query = 0;
  int end_query = std::numeric_limits<int>::max();
  int head = -1;                      ///< -1 = every head
  double output = 0;                  ///< in every column; may be NaN
  std::optional<double> log_sum_exp;  ///< absent: not stated
};

struct CaseInput {
  std::string name;
  Problem problem;
  HostTensors tensors;
  std::vector<ExpectedRows> expected;
  /// The same problem without its odd values. Rows on which the reference does not tell the two
  /// apart must come out of a kernel with the same bits.
  std::optional<HostTensors> clean;
};

// `form` gives the element types and, of e4m3, scales and value_layout.
std::vector<CaseInput> masking_cases(const Variant& form);   ///< C03 C07 C09 C10 C28 C53
std::vector<CaseInput> numerics_cases(const Variant& form);  ///< C11 C29 C54 C78, odd values in V
std::vector<CaseInput> shape_cases(const Variant& form);     ///< C21 C31 C33, all of inputs.hpp
std::vector<CaseInput> scale_cases(const Variant& form);     ///< C80; none but with e4m3

/// All of them.
std::vector<CaseInput> all_cases(const Variant& form);

/// Each of them once. e4m3: each in another form, in turn.
std::vector<CaseInput> all_cases(DataType dtype);

}  // namespace heddle
