#pragma once
// What the generated quantiser has to give: beside the float64 reference of the whole recipe.

#include <string>

#include "generator/quantiser.hpp"
#include "runtime/testing/quantise.hpp"

namespace heddle {

/// Tensors of `dtype` that are to become those of an e4m3 problem.
struct QuantiserCase {
  Problem problem;
  DataType dtype = DataType::kBf16;
  QuantiserRecipe recipe;
  unsigned seed = 7;  ///< of the signs

  QuantiserConfigs configs() const { return quantiser_configs(problem.variant, dtype, recipe); }
};

/// Numbers that the input type holds exactly; columns of K and V have means.
InputNumbers quantiser_numbers(const QuantiserCase& subject);
/// Contiguous tensors of the input type, V by rows.
HostTensors quantiser_inputs(const QuantiserCase& subject, const InputNumbers& numbers);

/// What is wrong with `made`, or nothing. Scales, means and shifts lie within a millionth of the
/// reference's; each element is the nearest to its number over its scale, or as near but for fp32's
/// error; what pads transposed values is 0.
std::string check_quantised(const QuantiserCase& subject, const InputNumbers& numbers,
                            const HostTensors& made);

/// Whether both have the same bits throughout.
bool same_quantised(const HostTensors& left, const HostTensors& right);

}  // namespace heddle
