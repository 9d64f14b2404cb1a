#include "tuner/child_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "generator/error.hpp"

extern char** environ;

namespace heddle {
namespace {

constexpr int kMomentMs = 200;
/// A driver cleans up behind a process that is killed inside it before that process is gone.
constexpr int kKilledMs = 10'000;

/// File actions and attributes of posix_spawn.
struct SpawnSettings {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  explicit SpawnSettings(int socket) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes);
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD}) sigaddset(&usual, number);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
};

std::string status_text(int status) {
  if (WIFEXITED(status)) return "exited with code " + std::to_string(WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  return "ended by signal " + std::to_string(number) + " (" + strsignal(number) + ")";
}

}  // namespace

ChildProcess::ChildProcess(const std::string& program) {
  int sockets[2];
  int failure = ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0 ? 0 : errno;
  if (failure == 0) {
    SpawnSettings settings(sockets[1]);
    std::string name = program;
    char* arguments[] = {name.data(), nullptr};
    failure = ::posix_spawn(&id_, program.c_str(), &settings.actions, &settings.attributes,
                            arguments, environ);
    ::close(sockets[1]);
    socket_ = sockets[0];
  }
  if (failure == 0) return;
  if (socket_ >= 0) ::close(socket_);
  throw Error(ErrorCode::kIo, "worker",
              "'" + program + "' cannot be started: " + std::strerror(failure) +
                  "; name the program heddle_tune_worker with --worker or $HEDDLE_TUNE_WORKER");
}

ChildProcess::~ChildProcess() {
  end();
  ::close(socket_);
}

double ChildProcess::cpu_seconds() const {
  clockid_t clock = 0;
  timespec time{};
  if (ended_ || ::clock_getcpuclockid(id_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) {
    return 0;
  }
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

long long ChildProcess::resident_bytes() const {
  std::ifstream file("/proc/" + std::to_string(id_) + "/statm");
  long long total_pages = 0, resident_pages = 0;
  if (ended_ || !(file >> total_pages >> resident_pages)) return 0;
  return resident_pages * ::sysconf(_SC_PAGESIZE);
}

bool ChildProcess::reap(int wait_ms) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(wait_ms);
  while (!ended_) {
    ended_ = ::waitpid(id_, &status_, WNOHANG) != 0;
    if (ended_ || std::chrono::steady_clock::now() >= deadline) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return ended_;
}

std::string ChildProcess::end() {
  ::shutdown(socket_, SHUT_RDWR);
  if (reap(kMomentMs)) return status_text(status_);
  ::kill(id_, SIGKILL);
  reap(kKilledMs);
  return "killed";
}

}  // namespace heddle
