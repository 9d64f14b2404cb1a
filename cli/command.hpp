#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace heddle {

/// What `heddle VERB` returns to the shell.
enum ExitCode {
  kExitDone = 0,
  kExitAnswerIsNo = 1,    ///< ran, but a check failed, nothing is legal, all candidates are bad
  kExitWrongUse = 2,      ///< wrong flags or wrong input
  kExitMachineLacks = 3,  ///< no driver, GPU, NVRTC, memory; or the fault is ours
  kExitInterrupted = 130,
};

/// A verb registers its flags and hands over what to run; the returned int is the exit code.
using RunCommand = std::function<int()>;
struct CommandSink {
  CLI::App& app;
  /// Called by the verb's registration with its sub-command and the function to run.
  std::function<CLI::App&(const std::string& name, const std::string& help, RunCommand run)> add;
};

void register_emit(const CommandSink& sink);
void register_compile(const CommandSink& sink);
void register_verify(const CommandSink& sink);
void register_run(const CommandSink& sink);
void register_tune(const CommandSink& sink);
void register_bench(const CommandSink& sink);
void register_explain(const CommandSink& sink);
void register_db(const CommandSink& sink);
void register_devices(const CommandSink& sink);

}  // namespace heddle
