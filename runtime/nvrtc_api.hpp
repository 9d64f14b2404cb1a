#pragma once
// The entry points of libnvrtc in use, declared here so that no CUDA header is needed to build.

#include <cstddef>

namespace heddle {

struct NvrtcProgramTag;
using NvrtcProgram = NvrtcProgramTag*;
using NvrtcResult = int;
constexpr NvrtcResult kNvrtcSuccess = 0;

/// Filled by dlsym; each member's signature is nvrtc.h's.
struct NvrtcApi {
  NvrtcResult (*version)(int* major, int* minor) = nullptr;
  const char* (*error_string)(NvrtcResult result) = nullptr;
  NvrtcResult (*architecture_count)(int* count) = nullptr;
  NvrtcResult (*architectures)(int* numbers) = nullptr;
  NvrtcResult (*create)(NvrtcProgram* program, const char* text, const char* name, int headers,
                        const char* const* header_texts, const char* const* header_names) = nullptr;
  NvrtcResult (*destroy)(NvrtcProgram* program) = nullptr;
  NvrtcResult (*compile)(NvrtcProgram program, int count, const char* const* options) = nullptr;
  NvrtcResult (*log_size)(NvrtcProgram program, std::size_t* size) = nullptr;
  NvrtcResult (*log)(NvrtcProgram program, char* text) = nullptr;
  NvrtcResult (*ptx_size)(NvrtcProgram program, std::size_t* size) = nullptr;
  NvrtcResult (*ptx)(NvrtcProgram program, char* text) = nullptr;
  NvrtcResult (*cubin_size)(NvrtcProgram program, std::size_t* size) = nullptr;
  NvrtcResult (*cubin)(NvrtcProgram program, char* bytes) = nullptr;

  /// The name of the first entry point that the library lacks; empty if all are there.
  const char* bind(void* library);
};

}  // namespace heddle
