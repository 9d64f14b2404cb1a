#include "tuner/busy_gpu.hpp"

#include <catch2/catch.hpp>

#include "generator/error.hpp"

namespace heddle {
namespace {

using Catch::Contains;

/// Looks that say these figures one after the other, the last for ever; -1 = it cannot be told.
struct Looks {
  std::vector<int> percents;
  int taken = 0;
  int pauses = 0;
  int patience = 1000;  ///< pauses until the user has had enough

  GpuWatch watch() {
    return {[this]() -> std::optional<GpuActivity> {
              const auto place = std::min<std::size_t>(taken++, percents.size() - 1);
              if (percents[place] < 0) return std::nullopt;
              return GpuActivity{percents[place], {{4242, "python", 3LL << 29}}};
            },
            [this] { return ++pauses < patience; }};
  }
};

TEST_CASE("A GPU is idle once two looks in a row say so") {
  CHECK_FALSE(kept_busy(Looks{{0}}.watch()));
  CHECK_FALSE(kept_busy(Looks{{10}}.watch()));  // a desktop
  Looks own{{95, 60, 5, 0}};                    // what this process has just ended
  CHECK_FALSE(kept_busy(own.watch()));
  CHECK(own.taken == 4);
  Looks idle{{0, 0, 99}};
  CHECK_FALSE(kept_busy(idle.watch()));
  CHECK(idle.taken == 2);
}

TEST_CASE("A GPU that is never idle twice in a row is kept busy") {
  CHECK(kept_busy(Looks{{11}}.watch()));
  CHECK(kept_busy(Looks{{97}}.watch())->busy_percent == 97);
  CHECK(kept_busy(Looks{{97, 0, 97, 97, 3, 80, 90, 95}}.watch()));
  Looks enough{{97}};
  enough.patience = 2;
  CHECK_FALSE(kept_busy(enough.watch()));
  CHECK_FALSE(kept_busy(Looks{{-1}}.watch()));
}

TEST_CASE("Refusing names the GPU, the others and what to do") {
  try {
    await_idle_gpu(Looks{{97}}.watch(), WhenBusy::kRefuse, "GPU 0 (H200)", {});
    FAIL("not refused");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kDeviceBusy);
    CHECK_THAT(error.what(),
               Contains("GPU 0 (H200) is kept busy by another process (97 % of the time") &&
                   Contains("4242 (python, 1.5 GiB)") && Contains("--wait") &&
                   Contains("$CUDA_VISIBLE_DEVICES"));
  }
}

TEST_CASE("Waiting is told once and ends with the others, or with the user's patience") {
  std::vector<std::string> notes;
  const auto note = [&](const std::string& text) { notes.push_back(text); };
  std::vector<int> percents(40, 97);
  percents.push_back(0);
  Looks looks{percents};
  await_idle_gpu(looks.watch(), WhenBusy::kWait, "GPU 0", note);
  CHECK(looks.taken == 42);
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], Contains("waiting"));
  Looks enough{{97}};
  enough.patience = 20;
  await_idle_gpu(enough.watch(), WhenBusy::kWait, "GPU 0", note);
  CHECK(enough.pauses == 20);
  Looks ignored{{97}};
  await_idle_gpu(ignored.watch(), WhenBusy::kIgnore, "GPU 0", note);
  CHECK(ignored.taken == 8);
  CHECK_THAT(notes.back(), Contains("not to be trusted"));
}

TEST_CASE("Who uses a GPU is told as far as it is known") {
  CHECK_THAT(activity_text({50, {}}), Contains("50 %") && Contains("not known"));
  CHECK_THAT(activity_text({50, {{7, "", 0}, {8, "a", 0}, {9, "", 1LL << 30}}}),
             Contains("processes 7 8 (a) 9 (1.0 GiB)"));
}

}  // namespace
}  // namespace heddle
