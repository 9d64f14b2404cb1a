// NVML without a GPU, as a shared library: what it says is read anew from the file
// $HEDDLE_FAKE_NVML at each call, so that a test can change it under a running process:
//
//   busy 97                      percent; without the line 0
//   process 4242 21474836480     pid and bytes, a line each
//   unsupported                  utilisation cannot be had
//
// A busy line may hold several figures, which calls take by turns.

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#define HEDDLE_FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kSuccess = 0, kNotSupported = 3, kNotFound = 6;

struct Utilization {
  unsigned gpu, memory;
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};

struct Says {
  std::vector<unsigned> busy;
  std::vector<ProcessInfo> processes;
  bool supported = true;
};

Says what_file_says() {
  Says says;
  const char* path = std::getenv("HEDDLE_FAKE_NVML");
  std::ifstream file(path != nullptr ? path : "");
  for (std::string line; std::getline(file, line);) {
    std::stringstream words(line);
    std::string word;
    words >> word;
    if (word == "unsupported") says.supported = false;
    if (word == "busy") {
      for (unsigned percent = 0; words >> percent;) says.busy.push_back(percent);
    }
    ProcessInfo process{};
    if (word == "process" && words >> process.pid >> process.used_bytes) {
      says.processes.push_back(process);
    }
  }
  return says;
}

}  // namespace

HEDDLE_FAKE_EXPORT int nvmlInit_v2() {
  return kSuccess;
}
HEDDLE_FAKE_EXPORT int nvmlShutdown() {
  return kSuccess;
}
HEDDLE_FAKE_EXPORT const char* nvmlErrorString(int result) {
  return result == kNotSupported ? "Not Supported" : "Not Found";
}

HEDDLE_FAKE_EXPORT int nvmlSystemGetDriverVersion(char* text, unsigned bytes) {
  std::strncpy(text, "999.1", bytes);
  return kSuccess;
}

/// Knows the fake driver's first device.
HEDDLE_FAKE_EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  static int first;
  *device = &first;
  return std::strcmp(id, "0000:17:00.0") == 0 ? kSuccess : kNotFound;
}

HEDDLE_FAKE_EXPORT int nvmlDeviceGetUtilizationRates(void*, Utilization* utilization) {
  static std::size_t calls = 0;
  const Says says = what_file_says();
  if (!says.supported) return kNotSupported;
  *utilization = {says.busy.empty() ? 0 : says.busy[calls++ % says.busy.size()], 0};
  return kSuccess;
}

HEDDLE_FAKE_EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count,
                                                               ProcessInfo* infos) {
  const Says says = what_file_says();
  unsigned next = 0;
  for (const ProcessInfo& process : says.processes) {
    if (next < *count) infos[next++] = process;
  }
  *count = next;
  return kSuccess;
}
