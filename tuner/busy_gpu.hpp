#pragma once
// Whether others use the GPU that is to be measured on. Kernels of two processes take turns on it,
// so that every time taken meanwhile is worth nothing.

#include <functional>
#include <optional>
#include <string>

#include "tuner/nvml.hpp"

namespace heddle {

enum class WhenBusy { kRefuse, kWait, kIgnore };

/// How to look, and what to do between two looks (and whether to go on); replaced in tests.
struct GpuWatch {
  std::function<std::optional<GpuActivity>()> look;
  /// False = the user has had enough.
  std::function<bool()> pause;
};

/// What others keep a GPU busy with: the last look, where none of about two seconds found it idle
/// twice in a row. nullopt = it is idle, or nobody can tell, or pause() said to stop. (Longer than
/// NVML's sample period, so that what this process has just ended is forgotten.)
std::optional<GpuActivity> kept_busy(const GpuWatch& watch);

/// "97 % of the time; processes 4242 (python, 20.3 GiB)".
std::string activity_text(const GpuActivity& activity);

/// Returns once the GPU is idle, or pause() says to stop, or nobody can tell. Throws kDeviceBusy
/// where it is kept busy and `when` says to refuse; `note` is told where it waits or ignores that.
/// `gpu` is its name.
void await_idle_gpu(const GpuWatch& watch, WhenBusy when, const std::string& gpu,
                    const std::function<void(const std::string&)>& note);

}  // namespace heddle
