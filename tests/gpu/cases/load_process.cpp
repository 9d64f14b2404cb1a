#include "tests/gpu/cases/load_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

#include "tests/gpu/cases/small_kernels.hpp"

namespace heddle {
namespace {

constexpr char kReady = 'r';
constexpr double kBurnSeconds = 0.5e-3;
constexpr int kBurnsPerRound = 8;

bool input_is_open() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, 0) == 0;
}

[[noreturn]] void become_loader(int input, int output) {
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  execl("/proc/self/exe", "gpu_cases_test", kLoadArgument, static_cast<char*>(nullptr));
  _exit(127);
}

}  // namespace

int load_gpu() {
  Gpu gpu;
  const SmallKernels kernels(gpu);
  const NonBlockingStream stream(gpu.api());
  for (bool told = false; input_is_open();) {
    for (int i = 0; i < kBurnsPerRound; ++i) kernels.burn(kBurnSeconds, stream.get());
    gpu.wait_for(stream.get());
    if (!told && write(STDOUT_FILENO, &kReady, 1) != 1) return 1;
    told = true;
  }
  return 0;
}

LoadProcess::LoadProcess() {
  int to_child[2];
  int from_child[2];
  if (pipe2(to_child, O_CLOEXEC) != 0 || pipe2(from_child, O_CLOEXEC) != 0) {
    throw std::runtime_error("pipe failed");
  }
  child_ = fork();
  if (child_ == 0) become_loader(to_child[0], from_child[1]);
  close(to_child[0]);
  close(from_child[1]);
  input_ = to_child[1];
  char answer = 0;
  const bool ready = child_ > 0 && read(from_child[0], &answer, 1) == 1 && answer == kReady;
  close(from_child[0]);
  if (!ready) throw std::runtime_error("no second process could load the GPU");
}

LoadProcess::~LoadProcess() {
  close(input_);
  waitpid(child_, nullptr, 0);
}

bool LoadProcess::is_running() const {
  return waitpid(child_, nullptr, WNOHANG) == 0;
}

}  // namespace heddle
