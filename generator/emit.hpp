#pragma once
// Variant + KernelConfig -> CUDA source. Never Sizes: one text serves every length.

#include <string>
#include <string_view>
#include <vector>

#include "generator/architecture.hpp"
#include "generator/kernel_part.hpp"
#include "generator/problem.hpp"

namespace heddle {

/// The array of zeros in a module whose kernel draws its tiles, and how many words it has: one for
/// each launch under way (runtime/tile_counters.hpp).
constexpr std::string_view kTileCountersName = "heddle_tile_counters";
constexpr unsigned kTileCounters = (1u << 16) + (1u << 14);

struct SourceFile {
  std::string name;  ///< as #included: "part/softmax.cuh"
  std::string text;
};

struct KernelSource {
  KernelPart part{};
  std::string entry;                ///< the extern "C" kernel's name
  std::string architecture;         ///< "sm_90a"
  SourceFile main;                  ///< the emitted file: banner, Config, hooks, entry
  std::vector<SourceFile> headers;  ///< generated and embedded ones it reaches, by #include name
};

/// Throws (kInvalidArgument, kUnsupported, kNoLegalConfig) when reject() would refuse.
KernelSource emit(const Variant& variant, const KernelConfig& config, KernelPart part,
                  const DeviceLimits& limits);

/// Adds every embedded header that `text` reaches and that is not there yet.
void add_headers(std::string_view text, std::vector<SourceFile>& headers);

/// The kernel as one self-contained text that NVRTC or nvcc compiles alone.
std::string flatten(const KernelSource& source);

/// The identity of what the compiler sees: flattened, comments, banner and blank lines stripped.
Hash128 source_hash(const KernelSource& source);

}  // namespace heddle
