#include "tests/cli/heddle_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace heddle {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// What the build's own machinery needs to find, whatever the test is about.
constexpr const char* kInherited[] = {"HEDDLE_NVRTC", "ASAN_OPTIONS", "UBSAN_OPTIONS"};

}  // namespace

HeddleProcess::HeddleProcess() {
  environment_["HOME"] = home_.path().string();
  for (const char* name : kInherited) {
    if (const char* value = std::getenv(name)) environment_[name] = value;
  }
}

std::string HeddleProcess::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
  return path(name);
}

std::string HeddleProcess::read(const std::string& name) const {
  std::stringstream text;
  text << std::ifstream(path(name), std::ios::binary).rdbuf();
  return text.str();
}

ProcessResult HeddleProcess::run(const std::vector<std::string>& arguments) const {
  return wait(start(arguments));
}

pid_t HeddleProcess::start(const std::vector<std::string>& arguments) const {
  std::vector<std::string> argument_texts{"heddle"};
  argument_texts.insert(argument_texts.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment_texts;
  for (const auto& [name, value] : environment_) environment_texts.push_back(name + "=" + value);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
  const std::string output = path("stdout"), errors = path("stderr");
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), kFlags, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(), kFlags, 0600);
  pid_t child = 0;
  const int failure =
      posix_spawn(&child, HEDDLE_COMMAND, &actions, nullptr, pointers(argument_texts).data(),
                  pointers(environment_texts).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw std::runtime_error("cannot start " HEDDLE_COMMAND);
  return child;
}

ProcessResult HeddleProcess::wait(pid_t child) const {
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child) throw std::runtime_error("wait4 failed");
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read("stdout"),
          read("stderr"), seconds(usage.ru_utime) + seconds(usage.ru_stime)};
}

}  // namespace heddle
