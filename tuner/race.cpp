#include "tuner/race.hpp"

namespace heddle {

void race(Meter& meter, std::vector<Racer>& racers, int samples) {
  constexpr int kWarmUps = 10;
  std::vector<Meter::Work> work;
  for (const Racer& racer : racers) {
    work.emplace_back([&racer](int iteration, DriverStream stream) {
      const auto set = static_cast<std::size_t>(iteration) % racer.parameters.size();
      racer.kernels->launch(racer.plan, racer.parameters[set], stream);
    });
  }
  Meter::Options options;
  options.warm_ups = kWarmUps;
  options.samples = samples;
  auto timings = meter.compare(work, options);
  for (std::size_t i = 0; i < racers.size(); ++i) racers[i].timing = std::move(timings[i]);
}

}  // namespace heddle
