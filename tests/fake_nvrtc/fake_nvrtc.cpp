// A stand-in for libnvrtc with the entry points that heddle uses. Its "cubin" is a text that
// repeats source and options, so that a test sees which compile a result came from.

#include "tests/fake_nvrtc/fake_nvrtc.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "templates/mapped_parameters.cuh"
#include "templates/quantise_parameters.cuh"

namespace {

enum Result { kSuccess = 0, kInvalidInput = 3, kInvalidProgram = 4, kCompilation = 6 };

struct Program {
  std::string text;
  std::string log;
  std::string cubin;
};

struct Settings {
  int failure = 0;
  long cubin_size = -1;
  int delay_ms = 0;
  std::vector<int> architectures = {75, 80, 86, 89, 90, 100, 103, 120};
  std::string log =
      "ptxas info    : Compiling entry function 'kernel' for 'sm_90a'\n"
      "ptxas info    : Function properties for kernel\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 42 registers, used 1 barriers\n";
};

// One library, one state: as in the real one, nothing here belongs to a caller.
std::mutex mutex;
Settings settings;
std::string last_options;
std::atomic<int> compiles{0};
std::atomic<int> live{0};

Program* as_program(void* handle) {
  return static_cast<Program*>(handle);
}

/// What the fake driver loads in front of the text, in the variant that is made for it: the name of
/// the kernel and the size of its parameter.
std::string loadable_front(const std::string& text) {
  const std::size_t kernel = text.find("extern \"C\" __global__");
  if (std::string(HEDDLE_FAKE_NVRTC_VARIANT) != "13_loadable" || kernel == std::string::npos)
    return "";
  const std::size_t end = text.find("(const ", kernel);
  const std::size_t start = text.find_last_of(" \n", end) + 1;
  const std::string parameter = text.substr(end, text.find(')', end) - end);
  std::size_t bytes = sizeof(heddle::AttentionParameters);
  if (parameter.find("MappedParameters") < parameter.size())
    bytes = sizeof(heddle::MappedParameters);
  if (parameter.find("QuantiseParameters") < parameter.size())
    bytes = sizeof(heddle::QuantiseParameters);
  if (parameter.find("SpinParameters") < parameter.size()) bytes = 2 * sizeof(void*);
  return "\x7f"
         "ELF heddle-fake\n" +
         text.substr(start, end - start) + " " + std::to_string(bytes) + "\n";
}

int copy_out(const std::string& text, char* target) {
  std::memcpy(target, text.c_str(), text.size() + 1);
  return kSuccess;
}

}  // namespace

extern "C" {

const char* heddle_fake_nvrtc_variant() {
  return HEDDLE_FAKE_NVRTC_VARIANT;
}

void heddle_fake_nvrtc_fail_compile(int result) {
  const std::lock_guard lock(mutex);
  settings.failure = result;
}
void heddle_fake_nvrtc_cubin_size(long size) {
  const std::lock_guard lock(mutex);
  settings.cubin_size = size;
}
void heddle_fake_nvrtc_delay_ms(int milliseconds) {
  const std::lock_guard lock(mutex);
  settings.delay_ms = milliseconds;
}
void heddle_fake_nvrtc_architectures(const int* numbers, int count) {
  const std::lock_guard lock(mutex);
  settings.architectures.assign(numbers, numbers + count);
}
void heddle_fake_nvrtc_log(const char* text) {
  const std::lock_guard lock(mutex);
  settings.log = text;
}
void heddle_fake_nvrtc_reset() {
  const std::lock_guard lock(mutex);
  settings = Settings();
  compiles = 0;
}
int heddle_fake_nvrtc_compile_count() {
  return compiles;
}
int heddle_fake_nvrtc_live_programs() {
  return live;
}
const char* heddle_fake_nvrtc_last_options() {
  return last_options.c_str();
}

int nvrtcVersion(int* major, int* minor) {
  *major = HEDDLE_FAKE_NVRTC_MAJOR;
  *minor = 0;
  return kSuccess;
}

const char* nvrtcGetErrorString(int result) {
  switch (result) {
    case kSuccess:
      return "NVRTC_SUCCESS";
    case kInvalidInput:
      return "NVRTC_ERROR_INVALID_INPUT";
    case kInvalidProgram:
      return "NVRTC_ERROR_INVALID_PROGRAM";
    case kCompilation:
      return "NVRTC_ERROR_COMPILATION";
    default:
      return "NVRTC_ERROR_INTERNAL_ERROR";
  }
}

int nvrtcGetNumSupportedArchs(int* count) {
  const std::lock_guard lock(mutex);
  *count = static_cast<int>(settings.architectures.size());
  return kSuccess;
}

int nvrtcGetSupportedArchs(int* numbers) {
  const std::lock_guard lock(mutex);
  std::memcpy(numbers, settings.architectures.data(), settings.architectures.size() * sizeof(int));
  return kSuccess;
}

int nvrtcCreateProgram(void** program, const char* text, const char* name, int headers,
                       const char* const* header_texts, const char* const* header_names) {
  auto* created = new Program;
  created->text = std::string("// ") + name + "\n" + text;
  for (int index = 0; index < headers; ++index) {
    created->text += std::string("// ") + header_names[index] + "\n" + header_texts[index];
  }
  *program = created;
  ++live;
  return kSuccess;
}

int nvrtcDestroyProgram(void** program) {
  if (program == nullptr || *program == nullptr) return kInvalidProgram;
  delete as_program(*program);
  *program = nullptr;
  --live;
  return kSuccess;
}

int nvrtcCompileProgram(void* program, int count, const char* const* options) {
  Settings now;
  std::string lines;
  for (int index = 0; index < count; ++index) lines += std::string(options[index]) + "\n";
  {
    const std::lock_guard lock(mutex);
    now = settings;
    last_options = lines;
  }
  ++compiles;
  std::this_thread::sleep_for(std::chrono::milliseconds(now.delay_ms));
  as_program(program)->log = now.log;
  if (now.failure == kSuccess) {
    const std::string& text = as_program(program)->text;
    // A kernel that is made to compile for minutes does so here too, at the cost of one core.
    const volatile bool endless = text.find("heddle_bad_compiles_for_minutes(") < text.size();
    while (endless) continue;
    as_program(program)->cubin = loadable_front(text) + lines + text;
  }
  return now.failure;
}

int nvrtcGetProgramLogSize(void* program, std::size_t* size) {
  *size = as_program(program)->log.size() + 1;
  return kSuccess;
}
int nvrtcGetProgramLog(void* program, char* log) {
  return copy_out(as_program(program)->log, log);
}

int nvrtcGetPTXSize(void* program, std::size_t* size) {
  *size = as_program(program)->cubin.size() + 1;
  return kSuccess;
}
int nvrtcGetPTX(void* program, char* ptx) {
  return copy_out(as_program(program)->cubin, ptx);
}

int nvrtcGetCUBINSize(void* program, std::size_t* size) {
  const std::lock_guard lock(mutex);
  *size = settings.cubin_size >= 0 ? static_cast<std::size_t>(settings.cubin_size)
                                   : as_program(program)->cubin.size() + 1;
  return kSuccess;
}
int nvrtcGetCUBIN(void* program, char* cubin) {
  return copy_out(as_program(program)->cubin, cubin);
}

}  // extern "C"
