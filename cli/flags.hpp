#pragma once
// The flags that every verb shares: a problem, a kernel, a target. Their names and help come from
// the field lists of Variant, Sizes and KernelConfig.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "generator/architecture.hpp"
#include "generator/kernel_config.hpp"
#include "generator/problem.hpp"

namespace CLI {
class App;
}

namespace heddle {

/// The largest number a flag takes that counts something.
constexpr int kMaxCount = 1'000'000;

/// For CLI::Option::check(): what is wrong with a time limit in seconds. Empty = nothing.
std::string wrong_seconds(const std::string& text);
/// The same where 0 stands for no limit.
std::string wrong_budget(const std::string& text);

/// "--head-dim" for "head_dim".
std::string flag_name(std::string_view field_name);

/// Sets a field of the sizes or of the variant. Throws kInvalidArgument naming the known ones.
void set_problem_field(Problem& problem, const std::string& name, const std::string& text);

/// --batch, --heads, --head-dim …, --problem FILE.yaml. A flag overrides the file.
class ProblemFlags {
 public:
  void add_to(CLI::App& app);
  /// Throws kInvalidArgument or kUnsupported.
  Problem resolve() const;
  /// The fields given, by file or flag; the rest as in `base`. Not checked as a whole.
  Problem apply_to(Problem base) const;
  /// The names of the fields given, by file or flag.
  std::set<std::string> names_given() const;
  bool any_given() const { return !given_.empty() || !file_.empty(); }

 private:
  std::map<std::string, std::string> given_;  ///< field name -> text
  std::string file_;
};

/// The flags that give this problem again, strides apart.
std::string problem_flags_text(const Problem& problem);

/// The default where it is of that family, else the first config of it that is legal, in
/// enumeration order; where none is, one that is not.
KernelConfig family_default(Family family, const Problem& problem, const DeviceLimits& limits);

/// "a=1, b=2" as people type it, for what takes "a=1,b=2".
std::string without_blanks(std::string text);

/// --family and --set knob=value.
class KernelFlags {
 public:
  void add_to(CLI::App& app);
  /// The config asked for: without --family the default for this problem, then the given knobs; of
  /// a family its own default, or the given knobs beside its plain ones.
  KernelConfig resolve(const Problem& problem, const DeviceLimits& limits) const;
  /// The same for verbs that run the kernel: kInvalidArgument for family reference, which checks
  /// the others and leaves its result where users do not look.
  KernelConfig resolve_runnable(const Problem& problem, const DeviceLimits& limits) const;
  bool any_given() const { return !family_.empty() || !knobs_.empty(); }
  /// The family asked for, for verbs that choose its knobs; empty = all. Throws kInvalidArgument
  /// where a knob was given too.
  std::vector<Family> families() const;

 private:
  KernelConfig before_knobs(const Problem& problem, const DeviceLimits& limits) const;
  void set_knobs(KernelConfig& config) const;

  std::string family_;
  std::vector<std::string> knobs_;
};

/// --arch: a row of the architecture table, for verbs that need no GPU.
class TargetFlags {
 public:
  void add_to(CLI::App& app);
  bool given() const { return !architecture_.empty(); }
  /// " --arch sm_90a", or nothing where none is given.
  std::string text() const { return given() ? " --arch " + architecture_ : std::string(); }
  /// The named row; without --arch the GPU's limits where one is there, else sm_90a.
  DeviceLimits resolve() const;

 private:
  std::string architecture_;
};

}  // namespace heddle
