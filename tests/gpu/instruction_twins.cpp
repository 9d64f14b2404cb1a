// instruction_twins [--host | --compile | --write FILE | --host-results FILE]
// Every function of the instruction layer on the GPU and by its host twin, on the same input. Exit
// 77 where there is no GPU. --host: the host's half against what is written down apart, no GPU.
// --compile: NVRTC's half. --write: the host's outputs to a file, for a machine without a compiler.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "generator/error.hpp"
#include "tests/gpu/twin_device.hpp"
#include "tests/gpu/twin_host.hpp"

namespace heddle {
namespace {

constexpr int kSkipped = 77;
constexpr int kBroken = 125;  ///< exit code of a process that an error ended

void print(const std::string& line) {
  std::fputs((line + '\n').c_str(), stdout);
}

/// One line; true where the outputs agree as they have to.
bool tell(const TwinCase& twin, const Bytes& host, const Bytes& other, const TwinBound& bound) {
  const TwinDifference found = difference(host, other, bound);
  const bool good = found.beyond == 0 && host.size() == other.size();
  std::string line = fmt::format("{} {:<34}", good ? "ok    " : "DIFFER", twin.name);
  if (found.words == 0) {
    line += " bit for bit";
  } else {
    line += fmt::format(" {} of {} words differ, {} beyond the bound; worst {} ulp, {:.3g}",
                        found.words, host.size() / 4, found.beyond, found.worst_ulps,
                        found.worst_absolute);
  }
  if (!good && host.size() == other.size()) {
    const auto left = values_of<std::uint32_t>(host);
    const auto right = values_of<std::uint32_t>(other);
    line += fmt::format("; word {}: host {:08x}, other {:08x}", found.first, left[found.first],
                        right[found.first]);
  }
  print(line);
  return good;
}

bool check_host(HostCompiler& compiler, const TwinCase& twin) {
  const TwinResult host = run_on_host(compiler, twin);
  if (twin.refused) {
    print(fmt::format("{} {:<34} {}", host.faults.empty() ? "DIFFER" : "ok    ", twin.name,
                      host.faults.empty() ? "ran" : host.faults[0].describe()));
    return !host.faults.empty();
  }
  for (const HostFault& fault : host.faults) print(twin.name + ": " + fault.describe());
  if (!twin.expect) return host.faults.empty();
  return tell(twin, host.output, twin.expect(twin.input), twin.expect_bound) && host.faults.empty();
}

int host_half() {
  HostCompiler compiler;
  int bad = 0;
  for (const TwinCase& twin : twin_cases()) bad += !check_host(compiler, twin);
  print(fmt::format("{} cases do not agree", bad));
  return bad == 0 ? 0 : 1;
}

int compile_half() {
  const auto nvrtc = Nvrtc::load("");
  std::set<std::string> seen;
  for (const TwinCase& twin : twin_cases()) {
    if (!seen.insert(twin.file + std::string(enum_name(twin.dtype))).second) continue;
    const auto output = compile_twin(*nvrtc, twin);
    print(fmt::format("ok {} {}: {} bytes", twin.file, enum_name(twin.dtype), output.cubin.size()));
  }
  return 0;
}

void write_results(const std::string& path) {
  HostCompiler compiler;
  std::ofstream file(path, std::ios::binary);
  for (const TwinCase& twin : twin_cases()) {
    const Bytes output = run_on_host(compiler, twin).output;
    file.write(reinterpret_cast<const char*>(output.data()),
               static_cast<std::streamsize>(output.size()));
  }
  if (!file) throw Error(ErrorCode::kIo, "cannot write " + path);
}

/// The host's outputs, one after the other: computed here, or as write_results() left them.
std::vector<Bytes> host_results(const std::vector<TwinCase>& cases, const std::string& path) {
  std::vector<Bytes> results;
  if (path.empty()) {
    HostCompiler compiler;
    for (const TwinCase& twin : cases) results.push_back(run_on_host(compiler, twin).output);
    return results;
  }
  std::ifstream file(path, std::ios::binary);
  for (const TwinCase& twin : cases) {
    Bytes& bytes = results.emplace_back(twin.output_bytes);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  if (!file) throw Error(ErrorCode::kIo, path + " is not from this program's --write");
  return results;
}

bool is_missing(ErrorCode code) {
  return code == ErrorCode::kDriverMissing || code == ErrorCode::kDeviceMissing ||
         code == ErrorCode::kNvrtcMissing;
}

struct Progress {
  std::size_t at = 0;  ///< the case at work
  int bad = 0;         ///< cases before it that do not agree
};

/// Runs cases from `progress.at` on, telling `pipe` before each and at the end.
int run_cases(const std::vector<TwinCase>& cases, const std::vector<Bytes>& host, Progress progress,
              int pipe) try {
  TwinDevice device;
  if (!device.is_hopper()) {
    print("skipped: " + device.name() + " has no sm_90a");
    return kSkipped;
  }
  const auto tell_progress = [&] {
    std::fflush(stdout);
    if (write(pipe, &progress, sizeof progress) != sizeof progress) _exit(kBroken);
  };
  for (; progress.at < cases.size(); ++progress.at) {
    tell_progress();
    const TwinCase& twin = cases[progress.at];
    const Bytes output = device.run(twin);
    if (twin.refused) print(fmt::format("DIFFER {:<34} ran", twin.name));
    progress.bad += twin.refused || !tell(twin, host[progress.at], output, twin.bound);
  }
  tell_progress();
  return 0;
} catch (const Error& error) {
  print(std::string(is_missing(error.code()) ? "skipped: " : "error: ") + error.what());
  return is_missing(error.code()) ? kSkipped : kBroken;
}

/// run_cases() in a process of its own, since an illegal instruction ends a context for good.
/// Returns its exit code; `progress` is the last that it told.
int fork_cases(const std::vector<TwinCase>& cases, const std::vector<Bytes>& host,
               Progress& progress) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    const int code = run_cases(cases, host, progress, ends[1]);
    std::fflush(stdout);
    _exit(code);
  }
  close(ends[1]);
  while (read(ends[0], &progress, sizeof progress) == sizeof progress) {
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kBroken;
}

int both_halves(const std::string& results_path) {
  const auto cases = twin_cases();
  const auto host = host_results(cases, results_path);
  Progress progress;
  while (progress.at < cases.size()) {
    const int code = fork_cases(cases, host, progress);
    if (code == kSkipped) return kSkipped;
    if (code == 0) continue;
    if (progress.at >= cases.size()) break;
    const TwinCase& ended = cases[progress.at++];
    print(fmt::format("{} {:<34} ended by an error", ended.refused ? "ok    " : "DIFFER",
                      ended.name));
    progress.bad += !ended.refused;
  }
  print(fmt::format("{} of {} cases do not agree", progress.bad, cases.size()));
  return progress.bad == 0 ? 0 : 1;
}

int run(const std::vector<std::string>& arguments) {
  const std::string mode = arguments.empty() ? "" : arguments[0];
  const std::string path = arguments.size() > 1 ? arguments[1] : "";
  if (mode == "--host") return host_half();
  if (mode == "--compile") return compile_half();
  if (mode == "--write") {
    write_results(path);
    return 0;
  }
  return both_halves(mode == "--host-results" ? path : "");
}

}  // namespace
}  // namespace heddle

int main(int count, char** arguments) try {
  return heddle::run({arguments + 1, arguments + count});
} catch (const heddle::Error& error) {
  const bool missing = heddle::is_missing(error.code());
  std::fprintf(missing ? stdout : stderr, "%s%s\n", missing ? "skipped: " : "", error.what());
  return missing ? heddle::kSkipped : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
