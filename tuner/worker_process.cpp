#include "tuner/worker_process.hpp"

#include <fmt/format.h>

#include "tuner/worker_messages.hpp"

namespace heddle {
namespace {

using nlohmann::json;
using Clock = MessageChannel::Clock;

/// How often limits and interrupts are looked at while waiting.
constexpr auto kSlice = std::chrono::milliseconds(20);
constexpr double kStartSeconds = 60;

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(std::min(seconds, 1e6)));
}

json opening(const WorkerSetup& setup) {
  return {{"do", "open"},
          {"driver", setup.driver_path},
          {"device", setup.device},
          {"nvrtc", setup.compiler.nvrtc_path},
          {"cache", setup.compiler.cache.path},
          {"extra_options", setup.compiler.extra_options}};
}

}  // namespace

WorkerProcess::WorkerProcess(const WorkerSetup& setup)
    : process_(setup.program), channel_(process_.socket()) {
  Patience patience;
  patience.seconds = kStartSeconds;
  try {
    ask(opening(setup), patience);
  } catch (const WorkerLost& lost) {
    throw Error(ErrorCode::kIo, "worker",
                fmt::format("'{}' {} before it was ready; is it the heddle_tune_worker of this "
                            "heddle? Name another with --worker or $HEDDLE_TUNE_WORKER",
                            setup.program, lost.what()));
  }
}

void WorkerProcess::lose(WorkerLost::Why why, const std::string& message) {
  const std::string end = process_.end();
  throw WorkerLost(why, message.empty() ? end : message);
}

void WorkerProcess::check_patience(const Patience& patience, double cpu_before) {
  if (patience.interrupted && patience.interrupted()) {
    lose(WorkerLost::Why::kInterrupted, "interrupted");
  }
  const double cpu_seconds = process_.cpu_seconds() - cpu_before;
  if (cpu_seconds > patience.cpu_seconds) {
    lose(WorkerLost::Why::kTimedOut,
         fmt::format("not done after {:g} s of processor time", patience.cpu_seconds));
  }
  if (process_.resident_bytes() > patience.memory_bytes) {
    lose(WorkerLost::Why::kTooMuchMemory,
         fmt::format("wanted more than {} MiB of memory", patience.memory_bytes >> 20));
  }
}

json WorkerProcess::ask(const json& request, const Patience& patience) {
  const double cpu_before = process_.cpu_seconds();
  auto deadline = after(patience.seconds);
  if (!channel_.send(request, deadline)) lose(WorkerLost::Why::kEnded, "");
  while (true) {
    json answer;
    const auto received = channel_.receive(answer, std::min(deadline, Clock::now() + kSlice));
    if (received == MessageChannel::Received::kClosed) lose(WorkerLost::Why::kEnded, "");
    if (received == MessageChannel::Received::kNothing) {
      check_patience(patience, cpu_before);
      if (Clock::now() < deadline) continue;
      lose(WorkerLost::Why::kTimedOut, fmt::format("no answer within {:g} s", patience.seconds));
    }
    if (const auto error = answer.find("error"); error != answer.end()) throw error_of(*error);
    if (!answer.contains("note")) return answer;
    if (patience.note) patience.note(answer.at("note"));
    deadline = after(patience.seconds);
  }
}

}  // namespace heddle
