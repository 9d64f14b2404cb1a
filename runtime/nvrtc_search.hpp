#pragma once
// Where libnvrtc is, found without loading it: a hit in the cubin cache needs only its identity.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/error.hpp"

namespace heddle {

/// What to do where NVRTC is missing or unfit; ends every such message.
extern const char* const kNvrtcRemedy;

/// A libnvrtc and the libnvrtc-builtins that belong to it.
struct NvrtcFile {
  std::string path;  ///< absolute
  std::vector<std::string> builtins;
  /// Build ids of the library and its builtins: names version and build at once. Empty where the
  /// library carries none.
  std::string identity;
};

/// Everything the search depends on, so that a test can point it elsewhere.
struct NvrtcSearch {
  std::string option;       ///< a file or folder named by the caller: then nothing else is tried
  std::string environment;  ///< the same from $HEDDLE_NVRTC
  std::vector<std::string> library_path;  ///< $LD_LIBRARY_PATH
  std::string loader_cache = "/etc/ld.so.cache";
  std::vector<std::string> toolkit_folders;  ///< $CUDA_HOME, $CUDA_PATH, usual places
  bool ask_loader = true;  ///< prefer what the process has loaded; last resort a plain dlopen

  /// Reads the environment and lists /usr/local/cuda*, once, at the caller's request.
  static NvrtcSearch from_environment(std::string option);
};

struct NvrtcCandidates {
  std::vector<NvrtcFile> files;    ///< best first
  std::vector<std::string> tried;  ///< every place looked at that held none, with its reason
};

NvrtcCandidates find_nvrtc(const NvrtcSearch& search);

/// The library of that path with its builtins; nullopt if it is no library for this machine.
std::optional<NvrtcFile> describe_nvrtc(const std::string& path);

class Nvrtc;
/// Opens the best candidate that works. Throws nvrtc_missing.
std::shared_ptr<const Nvrtc> load_nvrtc(const NvrtcSearch& search);

/// The error for "none found", listing every place.
Error nvrtc_missing(const NvrtcCandidates& candidates);

}  // namespace heddle
