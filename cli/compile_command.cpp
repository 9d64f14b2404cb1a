#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/selection.hpp"
#include "runtime/compiler.hpp"

namespace heddle {
namespace {

struct CompileOptions {
  ProblemFlags problem;
  KernelFlags kernel;
  TargetFlags target;
  ServiceFlags services;
  bool json = false;
  bool ptx = false;
};

nlohmann::json to_json(const CompiledKernel& kernel, int shared_bytes) {
  const CompileNotes& notes = kernel.notes;
  return {{"part", std::string(enum_name(kernel.part))},
          {"entry", kernel.entry},
          {"registers", notes.registers},
          {"spill_store_bytes", notes.spill_store_bytes},
          {"spill_load_bytes", notes.spill_load_bytes},
          {"stack_bytes", notes.stack_bytes},
          {"shared_bytes", shared_bytes},
          {"cubin_bytes", kernel.cubin.size()},
          {"seconds", notes.seconds},
          {"from_cache", kernel.from_cache},
          {"remarks", notes.remarks}};
}

void print_row(const CompiledKernel& kernel, int shared_bytes) {
  const CompileNotes& notes = kernel.notes;
  std::cout << fmt::format("{:<16} {:>9} {:>8} {:>11} {:>8} {:>8.3f} s{}\n", enum_name(kernel.part),
                           notes.registers, notes.spill_store_bytes + notes.spill_load_bytes,
                           shared_bytes, kernel.cubin.size(), notes.seconds,
                           kernel.from_cache ? " (cached)" : "");
  if (!notes.remarks.empty()) std::cout << "  " << notes.remarks << '\n';
}

/// What `explain` names: the config asked for, else what the library would select.
struct Chosen {
  KernelConfig config;
  std::string why;
};

Chosen choose(const CompileOptions& options, const Problem& problem, const SelectionPlace& place) {
  if (options.kernel.any_given()) {  // also the reference, which choose_config() refuses
    return {options.kernel.resolve(problem, place.limits), "asked for by --family, --set"};
  }
  const Choice choice = choose_config(options.kernel, options.services, problem, place);
  return {choice.config, why_chosen(choice)};
}

/// The PTX of one part, straight from NVRTC: caches keep cubins alone.
std::string ptx_of(const KernelSource& source, const Nvrtc& nvrtc) {
  Nvrtc::Output output = nvrtc.compile(source, compile_options(source.architecture));
  if (output.status == 0) return std::move(output.ptx);
  throw Error(ErrorCode::kCompileFailed, source.entry,
              fmt::format("{} failed with {} for {}:\n{}\nheddle emit prints the source",
                          output.stage, output.status_name, source.entry, output.log));
}

int print_ptx(const CompileOptions& options) {
  const Problem problem = options.problem.resolve();
  const SelectionPlace place = place_of(options.target, options.services);
  const DeviceLimits& limits = place.limits;
  const KernelConfig config = choose(options, problem, place).config;
  Compiler compiler(options.services.compiler_options());
  for (const KernelPart part : kernel_parts(config)) {
    std::cout << ptx_of(emit(problem.variant, config, part, limits), compiler.nvrtc()) << '\n';
  }
  return kExitDone;
}

int run_compile(const CompileOptions& options) {
  if (options.ptx) return print_ptx(options);
  const Problem problem = options.problem.resolve();
  const SelectionPlace place = place_of(options.target, options.services);
  const DeviceLimits& limits = place.limits;
  const Chosen chosen = choose(options, problem, place);
  const KernelConfig& config = chosen.config;
  Compiler compiler(options.services.compiler_options());
  auto rows = nlohmann::json::array();
  bool accepted = true;
  if (!options.json) {
    std::cout << fmt::format("{} for {}\n{}\n{:<16} {:>9} {:>8} {:>11} {:>8} {:>10}\n",
                             full_text(config), limits.architecture, chosen.why, "kernel",
                             "registers", "spill B", "shared B", "cubin B", "compile");
  }
  for (const KernelPart part : kernel_parts(config)) {
    const auto kernel = compiler.compile(emit(problem.variant, config, part, limits));
    const int shared_bytes = part_footprint(problem.variant, config, part).shared_bytes;
    if (options.json) {
      rows.push_back(to_json(*kernel, shared_bytes));
      rows.back()["config"] = canonical_text(config);
    }
    if (!options.json) print_row(*kernel, shared_bytes);
    if (const auto rejection = reject_notes(kernel->notes)) {
      accepted = false;
      std::cerr << "heddle: rejected: " << rejection->reason << '\n';
    }
  }
  if (options.json) std::cout << rows.dump(2) << '\n';
  return accepted ? kExitDone : kExitAnswerIsNo;
}

}  // namespace

void register_compile(const CommandSink& sink) {
  auto options = std::make_shared<CompileOptions>();
  CLI::App& verb = sink.add("compile",
                            "emit and compile with NVRTC, no GPU needed: registers, spills, "
                            "shared memory, remarks, seconds",
                            [options] { return run_compile(*options); });
  options->problem.add_to(verb);
  options->kernel.add_to(verb);
  options->target.add_to(verb);
  options->services.add_to(verb);
  auto* json = verb.add_flag("--json", options->json, "print JSON");
  verb.add_flag("--ptx", options->ptx, "print the PTX instead")->excludes(json);
}

}  // namespace heddle
