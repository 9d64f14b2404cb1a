#include "tests/mutation/trial.hpp"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "generator/error.hpp"
#include "tests/mutation/trial_child.hpp"

namespace heddle::mutation {
namespace {

/// Starts the children and takes their verdicts.
class Trials {
 public:
  Trials(Judge& judge, const std::vector<Mutant>& mutants, const TrialOptions& options)
      : judge_(judge), mutants_(mutants), options_(options) {}

  void run(const std::function<void(std::size_t, const Verdict&)>& report) {
    while (start_children(), !children_.empty()) {
      std::vector<pollfd> waits;
      for (const Child& child : children_) waits.push_back({child.pipe, POLLIN, 0});
      if (poll(waits.data(), waits.size(), -1) < 0) continue;
      for (std::size_t i = waits.size(); i-- > 0;) {
        if (waits[i].revents == 0 || !read_some(children_[i])) continue;
        const Child child = std::move(children_[i]);
        children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
        take(child.mutant, finish_child(child), report);
      }
    }
  }

 private:
  void start_children() {
    while (static_cast<int>(children_.size()) < options_.jobs) {
      if (!unchecked_.empty()) {
        const PreparedProblem* problem = unchecked_.back();
        unchecked_.pop_back();
        start(Mutant{}, kNoMutant, {problem});
      } else if (next_ < mutants_.size()) {
        start(mutants_[next_], next_, problems_for(mutants_[next_]));
        ++next_;
      } else {
        return;
      }
    }
  }

  void start(const Mutant& mutant, std::size_t index, const Trial& trial) {
    for (const PreparedProblem* problem : trial) judge_.compile_unchanged(*problem, mutant);
    children_.push_back(start_child(judge_, mutant, index, trial, options_.cpu_seconds));
  }

  /// Those that have caught most other mutants of the header come first.
  Trial problems_for(const Mutant& mutant) {
    std::map<std::string, int>& caught = caught_[mutant.file];
    Trial trial;
    for (const auto& problem : judge_.problems()) {
      const bool asked =
          problem->headers().contains(mutant.file) && problem->is_of(options_.family);
      if (asked) trial.push_back(problem.get());
    }
    std::stable_sort(trial.begin(), trial.end(), [&](const auto* left, const auto* right) {
      return caught[left->name()] > caught[right->name()];
    });
    return trial;
  }

  void take(std::size_t mutant, const Verdict& verdict,
            const std::function<void(std::size_t, const Verdict&)>& report) {
    if (mutant == kNoMutant) return require_passed(verdict);
    const bool caught = verdict.outcome == Outcome::kKilled ||
                        verdict.outcome == Outcome::kCrashed ||
                        verdict.outcome == Outcome::kOutOfTime;
    if (caught) {
      ++caught_[mutants_[mutant].file][verdict.problem];
      check_unmutated(verdict.problem);
    }
    report(mutant, verdict);
  }

  /// A problem that catches a mutant has to pass without one.
  void check_unmutated(const std::string& name) {
    if (!checked_.insert(name).second) return;
    for (const auto& problem : judge_.problems()) {
      if (problem->name() == name) unchecked_.push_back(problem.get());
    }
  }

  void require_passed(const Verdict& verdict) {
    if (verdict.outcome == Outcome::kSurvived) return;
    for (const Child& child : children_) kill(child.process, SIGKILL);
    while (!children_.empty()) {
      finish_child(children_.back());
      children_.pop_back();
    }
    throw Error(ErrorCode::kCheckFailed,
                fmt::format("{}, without a mutant: {}", verdict.problem, verdict.reason));
  }

  Judge& judge_;
  const std::vector<Mutant>& mutants_;
  const TrialOptions& options_;
  std::size_t next_ = 0;
  std::vector<Child> children_;
  std::map<std::string, std::map<std::string, int>> caught_;  ///< mutants, by header and problem
  std::set<std::string> checked_;
  std::vector<const PreparedProblem*> unchecked_;
};

}  // namespace

void judge_mutants(Judge& judge, const std::vector<Mutant>& mutants, const TrialOptions& options,
                   const std::function<void(std::size_t, const Verdict&)>& report) {
  Trials(judge, mutants, options).run(report);
}

}  // namespace heddle::mutation
