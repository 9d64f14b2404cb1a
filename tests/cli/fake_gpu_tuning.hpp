#pragma once
// `heddle tune` on the fake GPU with the fake NVRTC: the whole tuner with its workers, no hardware.

#include "tests/cli/heddle_process.hpp"

namespace heddle {

inline const std::vector<std::string> kFakeMachine{"--driver", HEDDLE_FAKE_GPU_PATH, "--nvrtc",
                                                   HEDDLE_FAKE_NVRTC_FOLDER "/13_loadable"};

/// A problem so small that its references take milliseconds.
inline std::vector<std::string> small_tuning(const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"tune",       "--head-dim", "64",          "--heads", "2",
                                 "--seqlen-q", "96",         "--seqlen-kv", "96",      "--samples",
                                 "5",          "--families", "fa2",         "--limit", "5"};
  words.insert(words.end(), kFakeMachine.begin(), kFakeMachine.end());
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace heddle
