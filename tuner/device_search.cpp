// Compiling goes on in the pool while this thread checks and measures what is compiled.

#include <algorithm>
#include <limits>

#include "runtime/driver_api.hpp"
#include "tuner/contest.hpp"
#include "tuner/local_runner.hpp"
#include "tuner/tuning_session.hpp"

namespace heddle {
namespace {

constexpr std::size_t kBatch = 6;  ///< candidates in one screening round
/// Of a budget, for the last race.
constexpr double kFinalShare = 0.15;
constexpr double kFailed = std::numeric_limits<double>::infinity();

class DeviceSearch {
 public:
  explicit DeviceSearch(TuningSession& session)
      : session_(session),
        runner_(make_runner()),
        contest_(*runner_, session.options.samples),
        pool_(session.target.compiler, session.problem.variant, session.target.limits,
              session.target.worker, session.options.compile) {}

  void run() {
    try {
      search_in_time();
      if (!session_.interrupted() && runner_->usable()) finish();
    } catch (const WorkerLost& lost) {
      if (lost.why != WorkerLost::Why::kInterrupted) throw;
    }
    report();
  }

 private:
  std::unique_ptr<CandidateRunner> make_runner() {
    const TuneTarget& target = session_.target;
    const RunnerInputs inputs{session_.seed, session_.options.warm};
    if (target.worker.program.empty()) {
      return std::make_unique<LocalRunner>(*target.device, target.compiler, session_.problem,
                                           inputs);
    }
    auto runner = std::make_unique<WorkerRunner>(
        target.worker, session_.problem, inputs, session_.options.runner, [this] {
          const bool late = searching_ && overdue();
          return session_.interrupted() || (late && contest_.leader() != nullptr);
        });
    isolated_ = runner.get();
    return runner;
  }

  bool out_of_time() const {
    const double budget = session_.options.budget_seconds;
    return budget > 0 && session_.elapsed() > budget * (1 - kFinalShare);
  }

  /// Well into what is kept for the last race.
  bool overdue() const {
    const double budget = session_.options.budget_seconds;
    return budget > 0 && session_.elapsed() > budget * (1 - kFinalShare / 2);
  }

  /// Whatever is being checked when time runs out is given up, undecided, and its worker with it.
  void search_in_time() {
    searching_ = true;
    try {
      search();
    } catch (const WorkerLost& lost) {
      if (lost.why != WorkerLost::Why::kInterrupted || session_.interrupted()) throw;
    }
    searching_ = false;
  }

  void search() {
    strategy_ = make_strategy(
        session_.options.strategy,
        {session_.list.all.size(), session_.list.seeds,
         [this](std::size_t position) { return neighbours_of(session_.list, position); },
         session_.seed});
    while (!session_.interrupted() && runner_->usable()) {
      feed();
      if (due_ == 0 && ready_.empty()) return;
      if (out_of_time() && contest_.leader() != nullptr) return;
      if (due_ > 0) {
        if (const auto result = pool_.take(kCompileWait)) take(*result);
      }
      if (ready_.size() >= kBatch || due_ == 0) screen();
    }
  }

  /// A few more than are being compiled, so that none of the pool waits.
  void feed() {
    while (due_ < 2 * pool_.threads() && !out_of_time()) {
      const auto position = strategy_->next();
      if (!position) return;
      start(session_.list.all[*position]);
    }
  }

  /// Known ones cost nothing; the default is measured all the same, for the others' sake.
  void start(Candidate& candidate) {
    if (candidate.known && !session_.is_base(candidate)) {
      ++session_.report.known;
      return decide(candidate);
    }
    candidate.known = false;
    candidate.failure.clear();
    candidate.relative = 0;
    if (session_.is_base(candidate)) awaits_base_ = true;
    ++due_;
    pool_.add(session_.job_of(candidate));
  }

  void decide(const Candidate& candidate) {
    strategy_->notify(static_cast<std::size_t>(candidate.id),
                      candidate.failure.empty() ? candidate.relative : kFailed);
    session_.progress(TuneStage::kSearch, ++decided_, session_.list.all.size());
  }

  void store(const Candidate& candidate) {
    session_.store(candidate);
    decide(candidate);
  }

  /// The default comes first and alone: the others are relative to it, and whatever they do, it is
  /// measured.
  void take(const CompileResult& result) {
    if (awaits_base_ && !session_.is_base(session_.candidate(result.id))) {
      waiting_.push_back(result);
      return;
    }
    examine(session_.take(result));
    if (!awaits_base_) return;
    awaits_base_ = false;
    if (session_.base()->failure.empty()) screen();
    if (!session_.base()->failure.empty()) session_.context.relative_to_default = false;
    for (const CompileResult& earlier : std::exchange(waiting_, {})) {
      if (!runner_->usable() || session_.interrupted()) return;
      examine(session_.take(earlier));
    }
  }

  void examine(Candidate& candidate) {
    --due_;
    if (candidate.failure.empty()) check(candidate);
    if (!candidate.failure.empty()) return store(candidate);
    ++session_.report.checked;
    ready_.push_back(&candidate);
  }

  void check(Candidate& candidate) {
    const CheckOutcome outcome =
        runner_->check({candidate.id, candidate.config, candidate.kernels});
    candidate.check = outcome.record;
    candidate.failure = outcome.failure;
  }

  void screen() {
    if (ready_.empty() || !runner_->usable()) return;
    contest_.screen(ready_);
    for (Candidate* candidate : std::exchange(ready_, {})) {
      if (candidate->failure.empty()) {
        ++session_.report.measured;
        measured_.push_back(candidate);
      }
      store(*candidate);
    }
  }

  /// Those from earlier runs that may win have to be made ready again.
  bool make_ready(Candidate& candidate) {
    pool_.add(session_.job_of(candidate));
    while (!session_.interrupted()) {
      const auto result = pool_.take(kCompileWait);
      if (!result || result->id != candidate.id) continue;
      session_.take(*result);
      if (candidate.failure.empty()) check(candidate);
      if (candidate.failure.empty()) return true;
      session_.store(candidate);
      return false;
    }
    return false;
  }

  /// The last race takes no more of them: none that it would leave out is made ready, and of those
  /// that have to be compiled again only as many as it takes in any case.
  std::vector<Candidate*> finalists() {
    std::vector<Candidate*> near = measured_;
    for (Candidate& candidate : session_.list.all) {
      if (candidate.known) near.push_back(&candidate);
    }
    std::erase_if(near, [&](const Candidate* candidate) {
      return !candidate->failure.empty() || !contest_.is_near(*candidate);
    });
    std::stable_sort(near.begin(), near.end(), [](const Candidate* left, const Candidate* right) {
      return left->relative < right->relative;
    });
    std::vector<Candidate*> ready;
    for (Candidate* candidate : near) {
      if (ready.size() == contest_.most_near()) break;
      if (candidate->known && ready.size() >= Contest::kLeastNear) continue;
      if (!candidate->known || make_ready(*candidate)) ready.push_back(candidate);
    }
    return ready;
  }

  Candidate* measured_base() {
    Candidate* base = session_.base();
    return base != nullptr && base->timing && base->failure.empty() ? base : nullptr;
  }

  void finish() {
    const auto near = finalists();
    if (session_.interrupted() || near.empty() || !runner_->usable()) return;
    session_.progress(TuneStage::kFinal, 0, near.size());
    const auto result = contest_.shoot_out(near, measured_base());
    session_.progress(TuneStage::kFinal, static_cast<int>(near.size()), near.size());
    session_.report.noise = result.noise;
    session_.report.finished = true;
    store_final(result);
    if (result.winner != nullptr) session_.report.winner = *result.winner;
  }

  void store_final(const Contest::Result& result) const {
    std::vector<Measurement> rows;
    for (const Candidate* candidate : result.outrun) {
      rows.push_back(row_of(session_.context, *candidate, session_.elapsed()));
    }
    for (const Candidate* candidate : result.finalists) {
      rows.push_back(row_of(session_.context, *candidate, session_.elapsed()));
      if (candidate != result.winner || session_.report.part) continue;
      rows.back().chosen = true;
      rows.back().noise = result.noise;
    }
    session_.target.store.record(rows);
  }

  void report() {
    TuneReport& report = session_.report;
    if (isolated_ != nullptr) report.lost_workers = isolated_->lost_workers();
    if (!runner_->usable()) {
      report.stopped =
          "a candidate took the GPU's context along; with heddle_tune_worker it would "
          "have been a worker's (--worker, $HEDDLE_TUNE_WORKER)";
    }
    if (!report.winner && contest_.leader() != nullptr) report.winner = *contest_.leader();
    if (measured_base() != nullptr) report.baseline = *measured_base();
  }

  TuningSession& session_;
  const WorkerRunner* isolated_ = nullptr;
  bool searching_ = false;  // before the runner, which asks for it from its first moment
  std::unique_ptr<CandidateRunner> runner_;
  Contest contest_;
  CompilePool pool_;
  std::unique_ptr<SearchStrategy> strategy_;
  std::vector<CompileResult> waiting_;  ///< for the default to be measured
  std::vector<Candidate*> ready_;       ///< passed the check, not measured yet
  std::vector<Candidate*> measured_;    ///< in this run
  bool awaits_base_ = false;
  int due_ = 0;  ///< not examined yet
  int decided_ = 0;
};

}  // namespace

void search_on_device(TuningSession& session) {
  // Without a worker this thread works in the device's context; the caller gets his own back.
  const Device& device = *session.target.device;
  const ContextScope scope(device.driver().api(), device.context());
  try {
    DeviceSearch(session).run();
  } catch (const WorkerLost& lost) {  // while the first worker started
    if (lost.why != WorkerLost::Why::kInterrupted || !session.interrupted()) throw;
  }
}

}  // namespace heddle
