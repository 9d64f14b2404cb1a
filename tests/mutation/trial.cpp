#include "tests/mutation/trial.hpp"

#include <fcntl.h>
#include <poll.h>
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
#include <system_error>

#include <fmt/format.h>

#include "generator/error.hpp"

namespace heddle::mutation {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kCpuFactor = 20;       // of the time without a mutant
constexpr double kLeastCpuSeconds = 3;  // CPU time: a busy machine does not shorten it
constexpr unsigned kWallSeconds = 300;  // of a problem, compile included; for what sleeps
constexpr rlim_t kAddressSpace = 6ull << 30;

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

/// What the compiler says: its first error.
std::string first_error(const std::string& log) {
  const std::size_t begin = log.find("error:");
  return begin == std::string::npos ? log : log.substr(begin, log.find('\n', begin) - begin);
}

/// Tells the problem first, so that the parent knows where a child died.
void announce(int out, const std::string& problem) {
  const std::string line = "@" + problem + "\n";
  if (write(out, line.data(), line.size()) < 0) _exit(1);
}

std::string try_problem(Judge& judge, const PreparedProblem& problem, const Mutant& mutant) {
  alarm(kWallSeconds);
  HostConfig kernels;
  try {
    kernels = judge.compile(problem, mutant);
  } catch (const Error& error) {
    const std::string reason = first_error(error.what());
    const bool refused = reason.find("static_assert") != std::string::npos ||
                         reason.find("static assertion") != std::string::npos;
    return encode(refused ? Outcome::kKilled : Outcome::kStillborn, problem.small.name, reason);
  }
  limit_cpu(std::max(kLeastCpuSeconds, kCpuFactor * problem.seconds));
  std::string found;
  try {
    found = judge.check(problem, kernels);
  } catch (const std::exception& error) {
    found = fmt::format("exception: {}", error.what());
  }
  limit_cpu(0);
  return found.empty() ? std::string() : encode(Outcome::kKilled, problem.small.name, found);
}

std::string try_all(Judge& judge, const Mutant& mutant, const std::string& family, int out) {
  for (const PreparedProblem& problem : judge.problems()) {
    if (!problem.headers.contains(mutant.file) || !problem.is_of(family)) continue;
    announce(out, problem.small.name);
    const std::string verdict = try_problem(judge, problem, mutant);
    if (!verdict.empty()) return verdict;
  }
  return encode(Outcome::kSurvived, "", "");
}

struct Child {
  pid_t process = 0;
  int pipe = -1;
  std::size_t mutant = 0;
  std::string folder;  ///< its temporary files
  std::string output;
  Clock::time_point begin;
};

Child start_child(Judge& judge, const Mutant& mutant, std::size_t index,
                  const std::string& family) {
  std::string folder = (std::filesystem::temp_directory_path() / "heddle-mutant-XXXXXX").string();
  int ends[2];
  if (mkdtemp(folder.data()) == nullptr || pipe2(ends, O_CLOEXEC) != 0) {
    throw Error(ErrorCode::kIo, "no temporary folder or pipe: set TMPDIR");
  }
  const pid_t process = fork();
  if (process < 0) throw Error(ErrorCode::kInternal, "no process for a mutant");
  if (process == 0) {
    setenv("TMPDIR", folder.c_str(), 1);
    const rlimit memory{kAddressSpace, kAddressSpace};
    setrlimit(RLIMIT_AS, &memory);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    const std::string verdict = try_all(judge, mutant, family, ends[1]);
    _exit(write(ends[1], verdict.data(), verdict.size()) < 0 ? 1 : 0);
  }
  close(ends[1]);
  return {process, ends[0], index, folder, "", Clock::now()};
}

std::string describe_death(int status) {
  if (!WIFSIGNALED(status)) return fmt::format("exit code {}", WEXITSTATUS(status));
  if (WTERMSIG(status) == SIGPROF) return "never ends: beyond its CPU time";
  if (WTERMSIG(status) == SIGALRM) return "never ends: beyond its time";
  return fmt::format("crash: signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
}

Verdict finish_child(const Child& child) {
  int status = 0;
  while (waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
  }
  close(child.pipe);
  std::error_code ignored;
  std::filesystem::remove_all(child.folder, ignored);
  Verdict verdict;
  verdict.seconds = std::chrono::duration<double>(Clock::now() - child.begin).count();
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < child.output.size();) {
    const std::size_t end = child.output.find('\n', at);
    lines.push_back(child.output.substr(at, end - at));
    if (lines.back().starts_with("@")) {
      verdict.problem = lines.back().substr(1);
      lines.pop_back();
    }
    if (end == std::string::npos) break;
    at = end + 1;
  }
  if (lines.size() >= 3) {
    verdict.outcome = static_cast<Outcome>(std::stoi(lines[0]));
    verdict.problem = lines[1];
    verdict.reason = lines[2];
  } else {
    verdict.outcome = Outcome::kKilled;
    verdict.reason = describe_death(status);
  }
  return verdict;
}

/// Waits for output; true when the child has closed its end.
bool read_some(Child& child) {
  std::array<char, 4096> buffer;
  const ssize_t count = read(child.pipe, buffer.data(), buffer.size());
  if (count > 0) child.output.append(buffer.data(), static_cast<std::size_t>(count));
  return count == 0 || (count < 0 && errno != EINTR);
}

}  // namespace

void judge_mutants(Judge& judge, const std::vector<Mutant>& mutants, const TrialOptions& options,
                   const std::function<void(std::size_t, const Verdict&)>& report) {
  std::vector<Child> children;
  std::size_t next = 0;
  while (next < mutants.size() || !children.empty()) {
    while (next < mutants.size() && static_cast<int>(children.size()) < options.jobs) {
      children.push_back(start_child(judge, mutants[next], next, options.family));
      ++next;
    }
    std::vector<pollfd> waits;
    for (const Child& child : children) waits.push_back({child.pipe, POLLIN, 0});
    if (poll(waits.data(), waits.size(), -1) < 0) continue;
    for (std::size_t i = waits.size(); i-- > 0;) {
      if (waits[i].revents == 0 || !read_some(children[i])) continue;
      report(children[i].mutant, finish_child(children[i]));
      children.erase(children.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

}  // namespace heddle::mutation
