#pragma once

#include <functional>

#include "tuner/candidate_runner.hpp"
#include "tuner/gate.hpp"
#include "tuner/input_sets.hpp"

namespace heddle {

/// Checks and measures in this process. A candidate that hangs, hangs this process; one that
/// faults takes the context along.
class LocalRunner final : public CandidateRunner {
 public:
  /// Told before a candidate may do harm: its number, or kEverybody.
  using Note = std::function<void(int id)>;
  static constexpr int kEverybody = -1;

  /// Device and compiler outlive it.
  LocalRunner(const Device& device, Compiler& compiler, const Problem& problem,
              const RunnerInputs& inputs, Note note = {});
  ~LocalRunner() override;

  CheckOutcome check(const Contestant& contestant) override;
  /// As check(), for one that passed it elsewhere. Throws where it cannot be loaded.
  void load(const Contestant& contestant);
  RaceOutcome race(const RaceRound& round) override;
  void release(int id) override;
  bool usable() const override { return usable_; }

 private:
  struct Loaded {
    KernelConfig config;
    LaunchPlan plan;
    std::unique_ptr<LoadedConfig> kernels;
    std::vector<AttentionParameters> parameters;  ///< one per input set
  };

  Loaded make_loaded(const Contestant& contestant) const;
  bool fits(const Problem& problem) const;
  bool is_lack_of_memory(const Error& error) const;
  void look_after_device();
  std::vector<int> prepare_inputs(const RaceRound& round, RaceOutcome& outcome);
  std::vector<int> try_each(std::vector<int> ids, RaceOutcome& outcome);
  void time_together(const std::vector<int>& ids, const RaceRound& round, RaceOutcome& outcome);
  void note(int id) const {
    if (note_) note_(id);
  }

  const Device& device_;
  Compiler& compiler_;
  Problem problem_;
  RunnerInputs given_;
  Note note_;
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<Meter> meter_;
  std::unique_ptr<InputSets> inputs_;
  std::size_t workspace_bytes_ = 0;  ///< of the input sets
  std::map<int, Loaded> loaded_;
  bool usable_ = true;
};

}  // namespace heddle
