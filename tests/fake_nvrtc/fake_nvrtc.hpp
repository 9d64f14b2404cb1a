#pragma once
// How a test steers the fake NVRTC: symbols that it looks up in the fake with dlsym.
// Each build of the fake (a variant) has a build id and a version of its own.

extern "C" {

/// Which build of the fake this is: "13", "13_other", …
const char* heddle_fake_nvrtc_variant();
/// 0 = compiles succeed; else what nvrtcCompileProgram returns (6 = NVRTC_ERROR_COMPILATION).
void heddle_fake_nvrtc_fail_compile(int result);
/// Size that nvrtcGetCUBINSize reports; -1 = the real one.
void heddle_fake_nvrtc_cubin_size(long size);
/// Makes every compile take this long, so that threads meet in it.
void heddle_fake_nvrtc_delay_ms(int milliseconds);
/// The architectures it claims to know.
void heddle_fake_nvrtc_architectures(const int* numbers, int count);
/// The program log of compiles that follow.
void heddle_fake_nvrtc_log(const char* text);
/// Back to the defaults, counters to zero. Programs alive are still counted.
void heddle_fake_nvrtc_reset();

int heddle_fake_nvrtc_compile_count();
/// Programs created and not destroyed.
int heddle_fake_nvrtc_live_programs();
/// The options of the last compile, one a line.
const char* heddle_fake_nvrtc_last_options();

}  // extern "C"
