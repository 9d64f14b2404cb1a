#include "tuner/tuning_session.hpp"

namespace heddle {
namespace {

void compile_all(TuningSession& session) {
  const auto& all = session.list.all;
  CompilePool pool(session.target.compiler, session.problem.variant, session.target.limits,
                   session.target.worker, session.options.compile);
  std::size_t due = 0;
  for (const Candidate& candidate : all) {
    if (candidate.bad) continue;
    pool.add(session.job_of(candidate));
    ++due;
  }
  for (std::size_t done = 0; done < due && !session.interrupted();) {
    const auto result = pool.take(kCompileWait);
    if (!result) continue;
    session.take(*result);
    session.progress(TuneStage::kCompile, static_cast<int>(++done), due);
  }
}

/// They promise what good ones do: only running tells them from those.
void pass_over_bad(TuningSession& session) {
  for (Candidate& candidate : session.list.all) {
    if (candidate.bad) candidate.failure = "not tried: nothing is run without a GPU";
  }
}

bool is_usable(const Candidate& candidate) {
  return candidate.kernels && candidate.failure.empty();
}

}  // namespace

void predict_only(TuningSession& session) {
  pass_over_bad(session);
  compile_all(session);
  const Candidate* best = nullptr;
  std::vector<Measurement> rows;
  for (const Candidate& candidate : session.list.all) {
    const bool undecided = !candidate.kernels && candidate.failure.empty();
    if (undecided || candidate.bad) continue;
    rows.push_back(row_of(session.context, candidate, session.elapsed()));
    if (!is_usable(candidate)) continue;
    const bool better = best == nullptr || candidate.prediction.seconds < best->prediction.seconds;
    if (better) best = &candidate;
  }
  session.target.store.record(rows);
  TuneReport& report = session.report;
  if (best != nullptr) report.winner = *best;
  if (session.base() != nullptr && is_usable(*session.base())) report.baseline = *session.base();
  report.finished = !session.interrupted();
}

}  // namespace heddle
