#include "tests/mutation/trial_child.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <regex>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "generator/error.hpp"

namespace heddle::mutation {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kWallSeconds = 300;  // of a compile or a check; for what sleeps
constexpr rlim_t kAddressSpace = 6ull << 30;

constexpr std::array kFaults{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};

// Before a problem's name: the step that begins.
constexpr const char* kCompiles = "@";
constexpr const char* kRuns = "!";

void limit_cpu(double seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec =
      static_cast<suseconds_t>(1e6 * (seconds - static_cast<double>(timer.it_value.tv_sec)));
  setitimer(ITIMER_PROF, &timer, nullptr);
}

/// The verdict as the child writes it: outcome, problem, reason, one a line.
std::string encode(Outcome outcome, const std::string& problem, std::string reason) {
  std::replace(reason.begin(), reason.end(), '\n', ' ');
  return fmt::format("{}\n{}\n{}\n", static_cast<int>(outcome), problem, reason);
}

/// What the compiler says about a place in the text: its first error. Empty where it says nothing
/// of the kind, as when it was killed.
std::string first_error(const std::string& log) {
  static const std::regex kAtPlace(":[0-9]+:[0-9]+: (?:fatal )?(error:[^\n]*)");
  std::smatch found;
  return std::regex_search(log, found, kAtPlace) ? found[1].str() : std::string();
}

/// Tells of each step before it, so that the parent knows where a child died.
void announce(int out, const std::string& step) {
  const std::string line = step + "\n";
  if (write(out, line.data(), line.size()) < 0) _exit(1);
}

std::string judge_refusal(const PreparedProblem& problem, const std::string& message) {
  const std::string& name = problem.name();
  const std::string reason = first_error(message);
  if (reason.empty()) return encode(Outcome::kUnjudged, name, message);
  const bool asserted = reason.find("static_assert") != std::string::npos ||
                        reason.find("static assertion") != std::string::npos;
  return encode(asserted ? Outcome::kKilled : Outcome::kStillborn, name, reason);
}

std::string try_problem(Judge& judge, const PreparedProblem& problem, const Mutant& mutant,
                        double cpu_seconds, int out) {
  announce(out, kCompiles + problem.name());
  alarm(kWallSeconds);
  HostKernels kernels;
  try {
    kernels = judge.compile(problem, mutant);
  } catch (const Error& error) {
    return judge_refusal(problem, error.what());
  }
  announce(out, kRuns + problem.name());
  alarm(kWallSeconds);
  limit_cpu(cpu_seconds);
  std::string found;
  try {
    found = problem.check(kernels);
  } catch (const std::exception& error) {
    return encode(Outcome::kUnjudged, problem.name(), error.what());
  }
  limit_cpu(0);
  return found.empty() ? std::string() : encode(Outcome::kKilled, problem.name(), found);
}

std::string try_all(Judge& judge, const Mutant& mutant, const Trial& trial, double cpu_seconds,
                    int out) {
  for (const PreparedProblem* problem : trial) {
    const std::string verdict = try_problem(judge, *problem, mutant, cpu_seconds, out);
    if (!verdict.empty()) return verdict;
  }
  return encode(Outcome::kSurvived, "", "");
}

/// Of a child without a verdict: the kernel is to blame for a fault of its own and for its time,
/// and for nothing that happened while it was not running.
void judge_death(int status, bool ran, Verdict& verdict) {
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  const bool late = signal == SIGPROF || signal == SIGALRM;
  const bool fault = std::find(kFaults.begin(), kFaults.end(), signal) != kFaults.end();
  if (ran && late) {
    verdict.outcome = Outcome::kOutOfTime;
    verdict.reason = signal == SIGPROF ? "beyond its CPU time" : "beyond its time";
    return;
  }
  verdict.outcome = ran && fault ? Outcome::kCrashed : Outcome::kUnjudged;
  verdict.reason = signal == 0 ? fmt::format("exit code {}", WEXITSTATUS(status))
                               : fmt::format("signal {} ({})", signal, strsignal(signal));
  if (!ran) verdict.reason += " before the kernel ran";
}

/// The last step that the child told, and its verdict if it came to one.
Verdict read_output(const std::string& output, int status) {
  Verdict verdict;
  bool ran = false;
  std::vector<std::string> lines;
  std::istringstream stream(output);
  for (std::string line; std::getline(stream, line);) {
    const bool step = line.starts_with(kCompiles) || line.starts_with(kRuns);
    if (!step || !lines.empty()) {
      lines.push_back(line);
      continue;
    }
    ran = line.starts_with(kRuns);
    verdict.problem = line.substr(1);
  }
  if (lines.size() < 3) {
    judge_death(status, ran, verdict);
    return verdict;
  }
  verdict.outcome = static_cast<Outcome>(std::stoi(lines[0]));
  verdict.problem = lines[1];
  verdict.reason = lines[2];
  return verdict;
}

}  // namespace

Child start_child(Judge& judge, const Mutant& mutant, std::size_t index, const Trial& trial,
                  double cpu_seconds) {
  std::string folder = (std::filesystem::temp_directory_path() / "heddle-mutant-XXXXXX").string();
  int ends[2];
  if (mkdtemp(folder.data()) == nullptr || pipe2(ends, O_CLOEXEC) != 0) {
    throw Error(ErrorCode::kIo, "no temporary folder or pipe: set TMPDIR");
  }
  const pid_t process = fork();
  if (process < 0) throw Error(ErrorCode::kInternal, "no process for a mutant");
  if (process == 0) {
    setenv("TMPDIR", folder.c_str(), 1);
    for (const int fault : kFaults) std::signal(fault, SIG_DFL);  // a parent's handlers stay behind
    const rlimit memory{kAddressSpace, kAddressSpace};
    setrlimit(RLIMIT_AS, &memory);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    const std::string verdict = try_all(judge, mutant, trial, cpu_seconds, ends[1]);
    _exit(write(ends[1], verdict.data(), verdict.size()) < 0 ? 1 : 0);
  }
  close(ends[1]);
  return {process, ends[0], index, folder, "", Clock::now()};
}

Verdict finish_child(const Child& child) {
  int status = 0;
  while (waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
  }
  close(child.pipe);
  std::error_code ignored;
  std::filesystem::remove_all(child.folder, ignored);
  Verdict verdict = read_output(child.output, status);
  verdict.seconds = std::chrono::duration<double>(Clock::now() - child.begin).count();
  return verdict;
}

bool read_some(Child& child) {
  std::array<char, 4096> buffer;
  const ssize_t count = read(child.pipe, buffer.data(), buffer.size());
  if (count > 0) child.output.append(buffer.data(), static_cast<std::size_t>(count));
  return count == 0 || (count < 0 && errno != EINTR);
}

}  // namespace heddle::mutation
