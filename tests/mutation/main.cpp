// heddle_mutation: changes the templates by rule, one place at a time, and counts which changes the
// checks on the CPU notice. See docs/testing.md, "Mutation".

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>

#include <fmt/format.h>

#include "generator/error.hpp"
#include "tests/mutation/known_list.hpp"
#include "tests/mutation/options.hpp"
#include "tests/mutation/table.hpp"
#include "tests/mutation/verdict_log.hpp"

namespace heddle::mutation {
namespace {

constexpr int kSkipped = 77;
constexpr int kUsageError = 2;

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorCode::kIo, "cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<KnownMutant> read_known(const std::vector<std::string>& names) {
  std::vector<KnownMutant> all;
  for (const std::string& name : names) {
    const auto list = parse_known(read_file(std::string(HEDDLE_MUTATION_LISTS) + "/" + name));
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

/// The lists, the mutants, and who owns which header.
struct Session {
  std::vector<KnownMutant> equivalent =
      read_known({"equivalent.txt", "equivalent_fa3.txt", "equivalent_quantiser.txt"});
  std::vector<KnownMutant> survivors = read_known({"survivors.txt"});
  std::vector<KnownMutant> unjudged = read_known({"unjudged.txt"});
  std::vector<Mutant> mutants;
  std::map<std::string, std::set<std::string>> families;  ///< by header

  explicit Session(const Judge& judge) {
    for (const auto& problem : judge.problems()) {
      for (const std::string& header : problem->headers()) {
        families[header].insert(problem->family());
      }
    }
    for (const auto& [name, text] : judge.headers()) {
      for (Mutant& mutant : make_mutants(name, text)) mutants.push_back(std::move(mutant));
    }
  }

  bool is_listed(const Mutant& mutant) const {
    return find_known(equivalent, mutant) != nullptr || find_known(survivors, mutant) != nullptr;
  }
  /// Nobody has looked yet which of them live for a good reason: a sample would trip over those.
  bool is_unjudged(const Mutant& mutant) const { return find_known(unjudged, mutant) != nullptr; }

  std::string owner(const Mutant& mutant) const {
    const auto& names = families.at(mutant.file);
    return names.size() == 1 ? *names.begin() : "shared";
  }
};

bool holds_any(const Mutant& mutant, const std::vector<std::string>& texts) {
  return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
    return mutant.name().find(text) != std::string::npos ||
           mutant.key().find(text) != std::string::npos;
  });
}

std::vector<Mutant> choose(const Session& session, const Options& options) {
  std::vector<Mutant> chosen;
  for (const Mutant& mutant : session.mutants) {
    const bool of_family =
        options.family.empty() || session.families.at(mutant.file).contains(options.family);
    const bool named = options.only.empty() || holds_any(mutant, options.only);
    const bool drawn =
        options.sample == 0 || !(session.is_listed(mutant) || session.is_unjudged(mutant));
    if (of_family && named && drawn) chosen.push_back(mutant);
  }
  if (options.sample == 0) return chosen;
  std::mt19937_64 random(options.seed);
  std::shuffle(chosen.begin(), chosen.end(), random);
  chosen.resize(std::min(chosen.size(), options.sample));
  return chosen;
}

/// Of an outcome by which a mutant is caught.
int& count_of(Counts& counts, Outcome outcome) {
  if (outcome == Outcome::kCrashed) return counts.crashed;
  return outcome == Outcome::kOutOfTime ? counts.out_of_time : counts.killed;
}

/// Prints each verdict, counts it, and tells whether anything was found that no list explains.
class Reporter {
 public:
  explicit Reporter(const Session& session) : session_(session) {}

  void add(const Mutant& mutant, const Verdict& verdict) {
    if (verdict.outcome == Outcome::kUnjudged) {
      std::cout << verdict_line(std::string(outcome_word(verdict.outcome)), mutant, verdict)
                << std::flush;
      wrong_ = true;
      return;
    }
    Counts& counts = table_.of(session_.owner(mutant), mutant.rule);
    ++counts.mutants;
    const bool equivalent = find_known(session_.equivalent, mutant) != nullptr;
    const bool known = find_known(session_.survivors, mutant) != nullptr;
    std::string word(outcome_word(verdict.outcome));
    if (verdict.outcome == Outcome::kStillborn) {
      ++counts.stillborn;
    } else if (verdict.outcome != Outcome::kSurvived) {
      ++count_of(counts, verdict.outcome);
      if (equivalent || known) word += kButListed, wrong_ = true;
    } else if (equivalent) {
      word = "EQUIVALENT", ++counts.equivalent;
    } else if (known) {
      word = "LISTED", ++counts.known;
    } else {
      word = "SURVIVED", ++counts.survived, wrong_ = true;
    }
    std::cout << verdict_line(word, mutant, verdict) << std::flush;
  }

  const Table& table() const { return table_; }
  bool wrong() const { return wrong_; }

 private:
  const Session& session_;
  Table table_;
  bool wrong_ = false;
};

bool report_unmatched(const Session& session) {
  bool any = false;
  for (const auto* list : {&session.equivalent, &session.survivors, &session.unjudged}) {
    for (const std::string& pattern : unmatched(*list, session.mutants)) {
      std::cerr << "listed, but no mutant matches: " << pattern << '\n';
      any = true;
    }
  }
  return any;
}

/// Verdicts of earlier runs instead of new ones; false if some mutant has none.
bool replay(const std::vector<std::string>& logs, const std::vector<Mutant>& mutants,
            const std::function<void(std::size_t, const Verdict&)>& report) {
  std::string text;
  for (const std::string& path : logs) text += read_file(path);
  const std::map<std::string, Verdict> verdicts = read_verdicts(text);
  bool complete = true;
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    const auto found = verdicts.find(mutants[i].key());
    if (found != verdicts.end()) {
      report(i, found->second);
    } else {
      std::cout << "NOT JUDGED " << mutants[i].name() << '\n';
      complete = false;
    }
  }
  return complete;
}

int run(Options options) {
  Judge judge(options.problems);
  const Session session(judge);
  // Some problems alone include but some headers.
  const bool unmatched = options.problems.empty() && report_unmatched(session);
  if (!options.seeded) options.seed = std::random_device{}();
  const std::vector<Mutant> chosen = choose(session, options);
  if (options.list) {
    for (const Mutant& mutant : chosen) std::cout << mutant.name() << '\n';
    return unmatched ? 1 : 0;
  }
  if (options.sample > 0) {
    const auto skipped =
        std::count_if(session.mutants.begin(), session.mutants.end(),
                      [&](const Mutant& mutant) { return session.is_unjudged(mutant); });
    std::cout << "seed " << options.seed << "; " << skipped << " of " << session.mutants.size()
              << " mutants are in no sample: unjudged.txt\n";
  }
  const auto begin = std::chrono::steady_clock::now();
  Reporter reporter(session);
  const auto report = [&](std::size_t index, const Verdict& verdict) {
    reporter.add(chosen[index], verdict);
  };
  bool complete = true;
  if (options.logs.empty()) {
    judge_mutants(judge, chosen, {options.jobs, options.family}, report);
  } else {
    complete = replay(options.logs, chosen, report);
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::cout << reporter.table().text() << fmt::format("{:.0f} s\n", seconds);
  if (!options.markdown.empty()) {
    std::ofstream(options.markdown) << reporter.table().markdown();
  }
  return unmatched || reporter.wrong() || !complete ? 1 : 0;
}

}  // namespace
}  // namespace heddle::mutation

int main(int argc, char** argv) {
  using namespace heddle;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (std::find(arguments.begin(), arguments.end(), "--help") != arguments.end()) {
      std::cout << mutation::usage();
      return 0;
    }
    return mutation::run(mutation::parse(arguments));
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    if (error.code() == ErrorCode::kHostCompilerMissing) return mutation::kSkipped;
    return error.code() == ErrorCode::kInvalidArgument ? mutation::kUsageError : 1;
  }
}
