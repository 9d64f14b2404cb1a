#include "tuner/tuner.hpp"

#include <map>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "tuner/tuning_session.hpp"

namespace heddle {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(250);

std::uint64_t fresh_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

std::string fresh_name() {
  return fmt::format("{}-{:08x}", now_utc(), fresh_seed() >> 32);
}

void summarise(TuningSession& session) {
  std::map<std::string, int> reasons;
  for (const Candidate& candidate : session.list.all) {
    if (candidate.failure.empty()) continue;
    const std::string name =
        candidate.bad ? fmt::format("bad candidate {}: ", enum_name(*candidate.bad)) : "";
    ++reasons[name + candidate.failure];
  }
  for (const auto& [reason, times] : reasons) {
    session.report.failures.push_back(fmt::format("{} x {}", times, reason));
  }
}

/// Costs nothing of a budget.
void await_device(TuningSession& session) {
  const TuneTarget& target = session.target;
  const TuneOptions& options = session.options;
  if (target.monitor == nullptr) return;
  const auto start = std::chrono::steady_clock::now();
  const GpuWatch watch{[&] { return target.monitor->activity(); },
                       [&] {
                         std::this_thread::sleep_for(kBetweenLooks);
                         return !options.interrupted || !options.interrupted();
                       }};
  const std::string name =
      fmt::format("GPU {} ({})", target.device->ordinal(), target.device_class.name);
  await_idle_gpu(watch, options.when_busy, name, options.note);
  session.start += std::chrono::steady_clock::now() - start;
}

}  // namespace

TuningSession::TuningSession(const TuneTarget& used_target, const NamedProblem& named,
                             const TuneOptions& used_options)
    : target(used_target),
      options(used_options),
      problem(named.problem),
      seed(used_options.seed != 0 ? used_options.seed : fresh_seed()),
      context{target,      problem, fresh_name(), options.command, target.device == nullptr,
              options.warm} {
  report.problem = named;
  report.predicted = context.predicted;
  report.part = options.shard.count > 1;
  list = list_candidates(problem, target.limits, options, near_winners(target, problem));
  report.legal = list.legal;
}

double TuningSession::elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void TuningSession::progress(TuneStage stage, int done, std::size_t total) const {
  if (options.progress) options.progress({stage, done, static_cast<int>(total)});
}

void TuningSession::store(const Candidate& candidate) const {
  target.store.record(row_of(context, candidate, elapsed()));
}

CompileJob TuningSession::job_of(const Candidate& candidate) const {
  return {candidate.id, candidate.config, candidate.bad};
}

Candidate& TuningSession::take(const CompileResult& result) {
  Candidate& taken = candidate(result.id);
  taken.kernels = result.kernels;
  taken.failure = result.failure;
  if (result.kernels) ++report.compiled;
  return taken;
}

TuneReport tune(const TuneTarget& target, const NamedProblem& problem, const TuneOptions& options) {
  TuningSession session(target, problem, options);
  if (session.report.predicted) {
    predict_only(session);
  } else {
    if (!options.fresh) recall(session.context, session.list);
    const bool may_skip = options.skip_finished && !options.fresh && options.shard.count == 1;
    if (may_skip && recall_choice(session.context, session.list, session.report)) {
      return std::move(session.report);
    }
    await_device(session);
    search_on_device(session);
  }
  summarise(session);
  return std::move(session.report);
}

}  // namespace heddle
