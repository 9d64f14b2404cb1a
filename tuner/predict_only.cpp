#include "tuner/tuning_session.hpp"

namespace heddle {
namespace {

void compile_all(TuningSession& session) {
  const auto& all = session.list.all;
  CompilePool pool(session.target.compiler, session.problem.variant, session.target.limits,
                   session.target.worker, session.options.compile);
  for (const Candidate& candidate : all) pool.add(session.job_of(candidate));
  for (std::size_t done = 0; done < all.size() && !session.interrupted();) {
    const auto result = pool.take(kCompileWait);
    if (!result) continue;
    session.take(*result);
    session.progress(TuneStage::kCompile, static_cast<int>(++done), all.size());
  }
}

bool is_usable(const Candidate& candidate) {
  return candidate.kernels && candidate.failure.empty();
}

}  // namespace

void predict_only(TuningSession& session) {
  compile_all(session);
  const Candidate* best = nullptr;
  std::vector<Measurement> rows;
  for (const Candidate& candidate : session.list.all) {
    if (!candidate.kernels && candidate.failure.empty()) continue;
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
