#include <csignal>
#include <iostream>

#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "generator/error.hpp"
#include "generator/version.hpp"

namespace heddle {
namespace {

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kUnsupported:
    case ErrorCode::kWorkspaceTooSmall:
    case ErrorCode::kCaptureMiss:
      return kExitWrongUse;
    case ErrorCode::kNoLegalConfig:
    case ErrorCode::kCheckFailed:
      return kExitAnswerIsNo;
    case ErrorCode::kCompileFailed:
    case ErrorCode::kDriverMissing:
    case ErrorCode::kDeviceMissing:
    case ErrorCode::kNvrtcMissing:
    case ErrorCode::kHostCompilerMissing:
    case ErrorCode::kDeviceBusy:
    case ErrorCode::kDriverError:
    case ErrorCode::kOutOfMemory:
    case ErrorCode::kIo:
    case ErrorCode::kInternal:
      return kExitMachineLacks;
  }
  return kExitMachineLacks;
}

int run_guarded(const RunCommand& run) {
  try {
    return run();
  } catch (const Error& error) {
    std::cerr << "heddle: " << error.what() << '\n';
    return exit_code(error.code());
  } catch (const std::bad_alloc&) {
    std::cerr << "heddle: out of host memory; use a smaller problem\n";
    return kExitMachineLacks;
  } catch (const std::exception& error) {
    std::cerr << "heddle: internal error: " << error.what() << '\n';
    return kExitMachineLacks;
  }
}

int run_main(int argc, char** argv) {
  CLI::App app{"heddle: exact attention kernels, generated, compiled and tuned at run time"};
  app.set_version_flag("--version", std::string("heddle ") + kVersion);
  app.require_subcommand(1);
  RunCommand chosen;
  const CommandSink sink{
      app, [&](const std::string& name, const std::string& help, RunCommand run) -> CLI::App& {
        CLI::App* verb = app.add_subcommand(name, help);
        verb->callback([&chosen, run = std::move(run)] { chosen = run; });
        return *verb;
      }};
  register_emit(sink);
  register_compile(sink);
  register_verify(sink);
  register_run(sink);
  register_tune(sink);
  register_bench(sink);
  register_explain(sink);
  register_db(sink);
  register_devices(sink);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    // CLI11 says only that a verb is required, not which word is none.
    const auto unknown = app.remaining(true);
    if (error.get_name() == "RequiredError" && !unknown.empty()) {
      std::cerr << "heddle: there is no '" << unknown.front() << "'\n";
    }
    return kExitWrongUse;
  }
  return chosen ? run_guarded(chosen) : kExitWrongUse;
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  const int code = heddle::run_main(argc, argv);
  std::cout.flush();
  if (std::cout) return code;
  std::cerr << "heddle: standard output could not be written; the result is incomplete\n";
  return heddle::kExitMachineLacks;
}
