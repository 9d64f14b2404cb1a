#include <csignal>
#include <exception>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/gpu.hpp"
#include "cli/terminal.hpp"
#include "cli/tune_report.hpp"
#include "cli/workload_flags.hpp"
#include "tuner/shard.hpp"
#include "tuner/tuner.hpp"
#include "tuner/worker_location.hpp"

namespace heddle {
namespace {

/// Set by SIGINT and SIGTERM; the tuner asks between candidates and keeps what is finished.
volatile std::sig_atomic_t interrupt_requested = 0;
extern "C" void request_interrupt(int) {
  interrupt_requested = 1;
}

struct TuneCommand {
  WorkloadFlags workload;
  TargetFlags target;
  ServiceFlags services;
  std::vector<std::string> families;
  std::string strategy = "exhaustive";
  std::string worker;
  std::string shard;
  std::vector<std::string> bad;
  TuneOptions options;
  bool wait = false;
  bool ignore_busy = false;
  bool json = false;
};

std::string stage_label(TuneStage stage, const std::string& problem) {
  switch (stage) {
    case TuneStage::kCompile:
      return problem + ": compiling";
    case TuneStage::kSearch:
      return problem + ": trying";
    case TuneStage::kFinal:
      return problem + ": last race";
  }
  return problem;
}

TuneOptions options_of(const TuneCommand& command) {
  TuneOptions options = command.options;
  for (const std::string& name : command.families) {
    KernelConfig config;
    set_field(config, "family", without_blanks(name));
    options.families.push_back(config.family);
  }
  options.strategy = *enum_value<Strategy>(command.strategy);
  options.skip_finished = command.workload.has_file();
  if (command.wait) options.when_busy = WhenBusy::kWait;
  if (command.ignore_busy) options.when_busy = WhenBusy::kIgnore;
  for (const std::string& name : command.bad) {
    if (name == "all") {
      for (const auto& [kind, text] : EnumNames<BadKind>::names) options.bad.push_back(kind);
    } else if (const auto kind = enum_value<BadKind>(name)) {
      options.bad.push_back(*kind);
    } else {
      throw Error(
          ErrorCode::kInvalidArgument, "add-bad",
          fmt::format("--add-bad: '{}' is not all or one of: {}", name, enum_choices<BadKind>()));
    }
  }
  return options;
}

/// What repeats one problem's row: the problem itself, and what narrowed the search.
std::string command_of(const TuneCommand& command, const Problem& problem) {
  std::string text = "heddle tune " + problem_flags_text(problem);
  if (!command.families.empty()) {
    text += fmt::format(" --families {}", fmt::join(command.families, ","));
  }
  if (command.options.limit > 0) text += fmt::format(" --limit {}", command.options.limit);
  if (command.options.warm) text += " --warm";
  return text + command.target.text();
}

/// What tells whether others use the device; null without one, or where nothing can.
std::unique_ptr<Nvml> monitor_of(const Device* device) {
  if (device == nullptr) return nullptr;
  auto monitor = std::make_unique<Nvml>(device->driver().pci_bus_id(device->ordinal()));
  if (monitor->activity()) return monitor;
  print_note("whether another process keeps the GPU busy cannot be told here (" +
             monitor->problem() + ")");
  return nullptr;
}

int run_tune(const TuneCommand& command) {
  auto problems = command.workload.problems();
  drop_empty(problems);
  if (problems.empty()) return kExitDone;
  TuneOptions options = options_of(command);
  if (!command.shard.empty()) {
    const Share share = share_of(problems, parse_shard(command.shard));
    problems = share.problems;
    options.shard = share.candidates;
  }
  const auto device = open_gpu_unless_target_given(command.services, command.target);
  const DeviceLimits limits = device ? device->limits() : command.target.resolve();
  const DeviceClass device_class = device ? device->device_class() : class_of(limits);
  Compiler compiler(command.services.compiler_options());
  ResultsStore store(command.services.results_options());

  ProgressLine line(detect_terminal());
  std::string current;
  options.progress = [&](const TuneProgress& progress) {
    line.update(stage_label(progress.stage, current), progress.done, progress.total);
  };
  options.interrupted = [] { return interrupt_requested != 0; };
  std::signal(SIGINT, request_interrupt);
  std::signal(SIGTERM, request_interrupt);

  const WorkerSetup worker{find_worker(command.worker), command.services.driver_path(), 0,
                           command.services.compiler_options()};
  if (device && worker.program.empty()) {
    print_warning(
        "candidates run in this process, since there is no heddle_tune_worker (--worker, "
        "$HEDDLE_TUNE_WORKER): a kernel that hangs or crashes takes the tuning along");
  }
  options.note = [&](const std::string& text) {
    line.clear();
    print_note(text);
  };
  const auto monitor = monitor_of(device.get());
  const TuneTarget target{compiler,     store,  limits,       device_class,
                          device.get(), worker, monitor.get()};
  std::vector<TuneReport> reports;
  std::exception_ptr failure;  // of a later problem, after what the earlier ones have given
  for (const NamedProblem& problem : problems) {
    if (interrupt_requested) break;
    current = problem.name;
    options.command = command_of(command, problem.problem);
    try {
      reports.push_back(tune(target, problem, options));
    } catch (const Error&) {
      if (reports.empty()) throw;
      failure = std::current_exception();
      break;
    }
  }
  line.clear();
  std::cout << (command.json ? reports_json(reports) : reports_table(reports, device_class));
  if (const std::string where = where_stored(store); !where.empty()) std::cerr << where << '\n';
  if (failure) std::rethrow_exception(failure);
  if (interrupt_requested) return kExitInterrupted;
  for (const TuneReport& report : reports) {
    if (!report.winner) return kExitAnswerIsNo;
  }
  return kExitDone;
}

}  // namespace

void register_tune(const CommandSink& sink) {
  auto command = std::make_shared<TuneCommand>();
  CLI::App& verb = sink.add("tune",
                            "find the fastest kernel for a problem or a model on the GPU here (or, "
                            "with --arch and no GPU, rank compiled kernels by predicted cost)",
                            [command] { return run_tune(*command); });
  command->workload.add_to(verb);
  command->target.add_to(verb);
  command->services.add_to(verb);
  verb.add_option("--families", command->families, "only these families")->delimiter(',');
  verb.add_option("--limit", command->options.limit,
                  "compile at most this many candidates, best predicted first (0 = all)")
      ->check(CLI::Range(0, kMaxCount));
  verb.add_option("--samples", command->options.samples, "samples of the final round")
      ->check(CLI::Range(1, kMaxCount));
  verb.add_option("--strategy", command->strategy, "exhaustive, ranked, local or random")
      ->check(CLI::IsMember({"exhaustive", "ranked", "local", "random"}));
  verb.add_option("--budget", command->options.budget_seconds,
                  "seconds for each problem; then the best so far wins (0 = no limit)")
      ->check(wrong_budget);
  verb.add_flag("--warm", command->options.warm,
                "measure with inputs that stay in the L2 cache, and say so in the rows");
  verb.add_flag("--fresh", command->options.fresh,
                "measure anew what this heddle, driver and NVRTC have measured before");
  CLI::Option* wait = verb.add_flag("--wait", command->wait,
                                    "while another process keeps the GPU busy, wait, and do not "
                                    "refuse");
  verb.add_flag("--ignore-busy", command->ignore_busy, "measure all the same")->excludes(wait);
  verb.add_option("--shard", command->shard,
                  "only part i of n, as 2/8: of the problems, or of the candidates where there are "
                  "fewer problems; db merge joins the parts, and tuning once more chooses");
  verb.add_option("--threads", command->options.compile.threads,
                  "compiling processes (0 = as many as cores and memory allow)")
      ->check(CLI::Range(0, kMaxCount));
  verb.add_option("--seed", command->options.seed, "of the check's inputs (0 = drawn afresh)");
  const std::string group = "Isolation";
  verb.add_option("--worker", command->worker,
                  "the program heddle_tune_worker, in which candidates run (default: beside this "
                  "one; none = in this process)")
      ->group(group);
  verb.add_option("--candidate-seconds", command->options.runner.candidate_seconds,
                  "what checking a candidate, or a round of measuring, may take")
      ->check(wrong_seconds)
      ->group(group);
  verb.add_option("--compile-seconds", command->options.compile.cpu_seconds,
                  "what compiling a candidate may take, in processor time")
      ->check(wrong_seconds)
      ->group(group);
  const std::string test_group = "For tests";
  CLI::Option* bad = verb.add_option(
      "--add-bad", command->bad,
      "add candidates that fail like this (all: of every kind): " + enum_choices<BadKind>());
  bad->delimiter(',')->group(test_group);
  verb.add_flag("--only-bad", command->options.only_bad, "try no other candidates")
      ->needs(bad)
      ->group(test_group);
  verb.add_flag("--json", command->json, "print JSON");
}

}  // namespace heddle
