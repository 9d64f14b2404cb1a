// heddle_mutation: changes the templates by rule, one place at a time, and counts which changes the
// checks on the CPU notice. See docs/testing.md, "Mutation".

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>

#include <fmt/format.h>

#include "generator/error.hpp"
#include "tests/mutation/known_list.hpp"
#include "tests/mutation/table.hpp"
#include "tests/mutation/trial.hpp"

namespace heddle::mutation {
namespace {

constexpr int kSkipped = 77;
constexpr int kUsageError = 2;

constexpr const char* kUsage =
    "heddle_mutation: which one-place changes of the templates the checks notice.\n"
    "  --list             the mutants, judged by nobody\n"
    "  --all              judge all\n"
    "  --sample N         judge N of those that are in no list, drawn at random\n"
    "  --seed S           of the sample; drawn afresh and printed where absent\n"
    "  --only TEXT        judge those whose name holds TEXT; may be repeated\n"
    "  --family F         only headers and problems of one family\n"
    "  -j N               at a time (1)\n"
    "  --markdown FILE    the table as Markdown too\n"
    "Exit code 0: every survivor is in equivalent.txt or survivors.txt; 1: not so; 77: no "
    "compiler.\n";

struct Options {
  bool list = false;
  bool all = false;
  std::size_t sample = 0;
  std::uint64_t seed = 0;
  bool seeded = false;
  std::vector<std::string> only;
  std::string family;
  std::string markdown;
  int jobs = 1;
};

[[noreturn]] void refuse(const std::string& words) {
  throw Error(ErrorCode::kInvalidArgument, words + "; --help lists the options");
}

template <class Number>
Number number(const std::string& option, const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    refuse(fmt::format("{} {} is no number", option, text));
  }
  return value;
}

Options parse(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (name == "--list" || name == "--all") {
      (name == "--list" ? options.list : options.all) = true;
      continue;
    }
    if (i + 1 == arguments.size()) refuse(name + " is no option, or lacks its value");
    const std::string& value = arguments[++i];
    if (name == "--sample") {
      options.sample = number<std::size_t>(name, value);
    } else if (name == "--seed") {
      options.seed = number<std::uint64_t>(name, value), options.seeded = true;
    } else if (name == "--only") {
      options.only.push_back(value);
    } else if (name == "--family") {
      options.family = value;
    } else if (name == "--markdown") {
      options.markdown = value;
    } else if (name == "-j") {
      options.jobs = std::max(1, number<int>(name, value));
    } else {
      refuse(name + " is no option");
    }
  }
  if (!options.list && !options.all && options.sample == 0 && options.only.empty()) {
    refuse("one of --list, --all, --sample, --only is needed");
  }
  return options;
}

std::vector<KnownMutant> read_known(const std::string& name) {
  const std::string path = std::string(HEDDLE_MUTATION_LISTS) + "/" + name;
  std::ifstream file(path);
  if (!file) throw Error(ErrorCode::kIo, "cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return parse_known(text.str());
}

/// The lists, the mutants, and who owns which header.
struct Session {
  std::vector<KnownMutant> equivalent = read_known("equivalent.txt");
  std::vector<KnownMutant> survivors = read_known("survivors.txt");
  std::vector<Mutant> mutants;
  std::map<std::string, std::set<std::string>> families;  ///< by header

  explicit Session(const Judge& judge) {
    for (const PreparedProblem& problem : judge.problems()) {
      for (const std::string& header : problem.headers) {
        families[header].insert(std::string(enum_name(problem.small.config.family)));
      }
    }
    for (const auto& [name, text] : judge.headers()) {
      for (Mutant& mutant : make_mutants(name, text)) mutants.push_back(std::move(mutant));
    }
  }

  bool is_listed(const Mutant& mutant) const {
    return find_known(equivalent, mutant) != nullptr || find_known(survivors, mutant) != nullptr;
  }
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
    const bool drawn = options.sample == 0 || !session.is_listed(mutant);
    if (of_family && named && drawn) chosen.push_back(mutant);
  }
  if (options.sample == 0) return chosen;
  std::mt19937_64 random(options.seed);
  std::shuffle(chosen.begin(), chosen.end(), random);
  chosen.resize(std::min(chosen.size(), options.sample));
  return chosen;
}

/// Prints each verdict, counts it, and tells whether anything was found that no list explains.
class Reporter {
 public:
  explicit Reporter(const Session& session) : session_(session) {}

  void add(const Mutant& mutant, const Verdict& verdict) {
    Counts& counts = table_.of(session_.owner(mutant), mutant.rule);
    ++counts.mutants;
    const bool equivalent = find_known(session_.equivalent, mutant) != nullptr;
    const bool known = find_known(session_.survivors, mutant) != nullptr;
    std::string word = "KILLED";
    if (verdict.outcome == Outcome::kStillborn) {
      word = "STILLBORN", ++counts.stillborn;
    } else if (verdict.outcome == Outcome::kKilled) {
      ++counts.killed;
      if (equivalent || known) word = "KILLED BUT LISTED", wrong_ = true;
    } else if (equivalent) {
      word = "EQUIVALENT", ++counts.equivalent;
    } else if (known) {
      word = "LISTED", ++counts.known;
    } else {
      word = "SURVIVED", ++counts.survived, wrong_ = true;
    }
    std::cout << fmt::format("{} {} | {} | {} | {:.1f} s\n", word, mutant.name(), verdict.problem,
                             verdict.reason.substr(0, 200), verdict.seconds)
              << std::flush;
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
  for (const auto* list : {&session.equivalent, &session.survivors}) {
    for (const std::string& pattern : unmatched(*list, session.mutants)) {
      std::cerr << "listed, but no mutant matches: " << pattern << '\n';
      any = true;
    }
  }
  return any;
}

int run(Options options) {
  Judge judge;
  const Session session(judge);
  const bool unmatched = report_unmatched(session);
  if (!options.seeded) options.seed = std::random_device{}();
  const std::vector<Mutant> chosen = choose(session, options);
  if (options.list) {
    for (const Mutant& mutant : chosen) std::cout << mutant.name() << '\n';
    return unmatched ? 1 : 0;
  }
  if (options.sample > 0) std::cout << "seed " << options.seed << '\n';
  judge.check_unmutated(options.jobs);
  for (const PreparedProblem& problem : judge.problems()) {
    std::cout << fmt::format("unmutated: {} passes, {:.2f} s\n", problem.small.name,
                             problem.seconds);
  }
  const auto begin = std::chrono::steady_clock::now();
  Reporter reporter(session);
  judge_mutants(
      judge, chosen, {options.jobs, options.family},
      [&](std::size_t index, const Verdict& verdict) { reporter.add(chosen[index], verdict); });
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::cout << reporter.table().text() << fmt::format("{:.0f} s\n", seconds);
  if (!options.markdown.empty()) {
    std::ofstream(options.markdown) << reporter.table().markdown();
  }
  return unmatched || reporter.wrong() ? 1 : 0;
}

}  // namespace
}  // namespace heddle::mutation

int main(int argc, char** argv) {
  using namespace heddle;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (std::find(arguments.begin(), arguments.end(), "--help") != arguments.end()) {
      std::cout << mutation::kUsage;
      return 0;
    }
    return mutation::run(mutation::parse(arguments));
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    if (error.code() == ErrorCode::kHostCompilerMissing) return mutation::kSkipped;
    return error.code() == ErrorCode::kInvalidArgument ? mutation::kUsageError : 1;
  }
}
