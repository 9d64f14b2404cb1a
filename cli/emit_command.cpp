#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "generator/emit.hpp"

namespace heddle {
namespace {

struct EmitOptions {
  ProblemFlags problem;
  KernelFlags kernel;
  TargetFlags target;
  std::string part;
  bool flat = false;
};

bool is_wanted(KernelPart part, const std::string& name) {
  return name.empty() || name == enum_name(part);
}

std::string part_names(const KernelParts& parts) {
  std::string names;
  for (const KernelPart part : parts) {
    names += (names.empty() ? "" : ", ") + std::string(enum_name(part));
  }
  return names;
}

void require_known_part(const KernelParts& parts, const std::string& name) {
  for (const KernelPart part : parts) {
    if (is_wanted(part, name)) return;
  }
  throw Error(ErrorCode::kInvalidArgument, "part",
              "--part: '" + name + "' is no part of this kernel; its parts: " + part_names(parts));
}

int run_emit(const EmitOptions& options) {
  const Problem problem = options.problem.resolve();
  const DeviceLimits limits = options.target.resolve();
  const KernelConfig config = options.kernel.resolve(problem, limits);
  const KernelParts parts = kernel_parts(config);
  require_known_part(parts, options.part);
  if (options.flat && options.part.empty() && parts.count > 1) {
    throw Error(ErrorCode::kInvalidArgument, "part",
                "--flatten prints one text that compiles alone, and this config runs several "
                "kernels; add --part with one of: " +
                    part_names(parts));
  }
  for (const KernelPart part : parts) {
    if (!is_wanted(part, options.part)) continue;
    const KernelSource source = emit(problem.variant, config, part, limits);
    std::cout << (options.flat ? flatten(source) : source.main.text);
  }
  return kExitDone;
}

}  // namespace

void register_emit(const CommandSink& sink) {
  auto options = std::make_shared<EmitOptions>();
  CLI::App& verb = sink.add("emit", "print the specialised CUDA source for a problem",
                            [options] { return run_emit(*options); });
  options->problem.add_to(verb);
  options->kernel.add_to(verb);
  options->target.add_to(verb);
  verb.add_flag("--flatten", options->flat, "one self-contained text, headers included");
  verb.add_option("--part", options->part, "only this kernel of a config that runs several");
}

}  // namespace heddle
