#include "cli/input_flags.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "generator/error.hpp"

namespace heddle {

void InputFlags::add_to(CLI::App& app) {
  app.add_option("--inputs", kind_, "random inputs: " + enum_choices<InputKind>());
  app.add_option("--rise", rise_,
                 "of the logits along the keys, of rising inputs and spikes; negative: they fall");
}

InputOptions InputFlags::resolve() const {
  const auto kind = enum_value<InputKind>(kind_);
  if (kind) return {*kind, rise_};
  throw Error(ErrorCode::kInvalidArgument, "inputs",
              fmt::format("--inputs: '{}' is not one of: {}", kind_, enum_choices<InputKind>()));
}

}  // namespace heddle
