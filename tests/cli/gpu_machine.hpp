#pragma once
// A GPU machine for scripts/gpu_run, of the fake driver and NVRTC.

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>

#include "tests/cli/fake_gpu_tuning.hpp"

namespace heddle {

inline const std::string kTinyProblems =
    "tiny-full | fa2 | head_dim: 256, heads: 1, seqlen_q: 48, seqlen_kv: 40\n"
    "tiny-decode | fa2 | head_dim: 256, heads: 2, kv_heads: 1, seqlen_q: 1, seqlen_kv: 70\n";

/// The folder that gpu_package makes, and one for what a step leaves.
class GpuMachine {
 public:
  GpuMachine() {
    std::filesystem::create_symlink(HEDDLE_COMMAND, home_.path("heddle"));
    const auto beside = std::filesystem::path(HEDDLE_COMMAND).parent_path();
    std::filesystem::create_symlink(beside / "heddle_tune_worker",
                                    home_.path("heddle_tune_worker"));
    for (const std::string name :
         {"gpu_run", "gpu_evidence_steps", "gpu_tuner_steps", "gpu_safety_steps"}) {
      std::filesystem::copy_file(std::filesystem::path(HEDDLE_SCRIPTS) / name, home_.path(name));
    }
    home_.write("problems", kTinyProblems);
    set("HOME", home_.path(""));
    set("TUNER_WORK", home_.path("work"));
    set("OUT", home_.path("out"));
    set("HEDDLE_CACHE", home_.path("cubins.db"));
    set("TUNER_PROBLEMS", home_.path("problems"));
    set("RACE_SAMPLES", "9");
    set("MACHINE_FLAGS",
        "--driver " HEDDLE_FAKE_GPU_PATH " --nvrtc " HEDDLE_FAKE_NVRTC_FOLDER "/13_loadable");
  }

  void set(const std::string& name, const std::string& value) {
    environment_ += name + "='" + value + "' ";
  }

  /// The exit code; what it printed is in `printed`.
  int run(const std::string& steps, const std::string& more = "") {
    const int status = std::system((environment_ + more + " '" + home_.path("gpu_run") + "' " +
                                    steps + " > '" + home_.path("printed") + "' 2>&1")
                                       .c_str());
    printed = home_.read("printed");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string left(const std::string& name) const { return home_.read("out/" + name); }
  /// What is left of one machine is beside gpu_run on the next.
  void move_to_next_machine(const std::string& name) {
    std::filesystem::copy_file(home_.path("out/" + name), home_.path(name),
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::remove_all(home_.path("work"));
    std::filesystem::remove_all(home_.path("out"));
    std::filesystem::remove(home_.path("cubins.db"));
  }
  /// A shell script in the command's place; $REAL is the command.
  void replace_command(const std::string& script) {
    std::filesystem::remove(home_.path("heddle"));
    home_.write("heddle", "#!/usr/bin/env bash\nREAL='" HEDDLE_COMMAND "'\n" + script);
    std::filesystem::permissions(home_.path("heddle"), std::filesystem::perms::owner_all);
  }
  const HeddleProcess& home() const { return home_; }

  std::string printed;

 private:
  HeddleProcess home_;
  std::string environment_;
};

}  // namespace heddle
