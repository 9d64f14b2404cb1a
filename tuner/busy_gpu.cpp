#include "tuner/busy_gpu.hpp"

#include <fmt/format.h>

#include "generator/error.hpp"

namespace heddle {
namespace {

/// A desktop's own windows stay below it.
constexpr int kIdlePercent = 10;
constexpr int kLooks = 8;
constexpr int kIdleLooks = 2;

}  // namespace

std::optional<GpuActivity> kept_busy(const GpuWatch& watch) {
  std::optional<GpuActivity> activity;
  int idle = 0;
  for (int i = 0; i < kLooks; ++i) {
    activity = watch.look();
    if (!activity) return std::nullopt;
    idle = activity->busy_percent <= kIdlePercent ? idle + 1 : 0;
    if (idle == kIdleLooks || !watch.pause()) return std::nullopt;
  }
  return activity;
}

std::string activity_text(const GpuActivity& activity) {
  std::string text = fmt::format("{} % of the time", activity.busy_percent);
  if (activity.users.empty()) return text + "; by which processes is not known here";
  text += "; processes";
  for (const GpuUser& user : activity.users) {
    const double gib = static_cast<double>(user.bytes) / (1LL << 30);
    text += fmt::format(" {}", user.pid);
    if (!user.name.empty() || user.bytes > 0) {
      text += fmt::format(" ({}{}{})", user.name, !user.name.empty() && user.bytes > 0 ? ", " : "",
                          user.bytes > 0 ? fmt::format("{:.1f} GiB", gib) : "");
    }
  }
  return text;
}

void await_idle_gpu(const GpuWatch& watch, WhenBusy when, const std::string& gpu,
                    const std::function<void(const std::string&)>& note) {
  bool told = false;
  while (const auto activity = kept_busy(watch)) {
    const std::string what =
        fmt::format("{} is kept busy by another process ({})", gpu, activity_text(*activity));
    if (when == WhenBusy::kRefuse) {
      throw Error(ErrorCode::kDeviceBusy, "device",
                  what +
                      ": times measured meanwhile would be worth nothing. End that process, choose "
                      "another GPU by $CUDA_VISIBLE_DEVICES, or give --wait to wait until it is "
                      "idle (--ignore-busy measures all the same)");
    }
    if (!told && note) {
      note(when == WhenBusy::kWait ? what + ": waiting until it is idle"
                                   : what + ": the times measured are not to be trusted");
    }
    told = true;
    if (when == WhenBusy::kIgnore) return;
  }
}

}  // namespace heddle
