#pragma once
// What the stages of one problem's tuning share.

#include <chrono>

#include "tuner/candidate_list.hpp"
#include "tuner/tuning_rows.hpp"

namespace heddle {

/// How long to wait for a compiled candidate before looking at clock and interrupts again.
constexpr auto kCompileWait = std::chrono::milliseconds(20);

struct TuningSession {
  TuningSession(const TuneTarget& target, const NamedProblem& problem, const TuneOptions& options);

  bool interrupted() const { return options.interrupted && options.interrupted(); }
  double elapsed() const;
  void progress(TuneStage stage, int done, std::size_t total) const;
  Candidate& candidate(int id) { return list.all[static_cast<std::size_t>(id)]; }
  /// The default config; null where it is not among the candidates.
  Candidate* base() { return list.base ? &list.all[*list.base] : nullptr; }
  bool is_base(const Candidate& candidate) { return &candidate == base(); }
  void store(const Candidate& candidate) const;
  CompileJob job_of(const Candidate& candidate) const;
  /// Takes what compiling has come to.
  Candidate& take(const CompileResult& result);

  const TuneTarget& target;
  const TuneOptions& options;
  Problem problem;
  std::uint64_t seed;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  RowContext context;
  CandidateList list;
  TuneReport report;
};

/// Compiles the candidates and ranks those that compile well by predicted cost.
void predict_only(TuningSession& session);

/// Compiles, checks and measures them on the device.
void search_on_device(TuningSession& session);

}  // namespace heddle
