#include "tests/mutation/options.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "generator/error.hpp"

namespace heddle::mutation {
namespace {

constexpr const char* kUsage =
    "heddle_mutation: which one-place changes of the templates the checks notice.\n"
    "  --list             the mutants, judged by nobody\n"
    "  --all              judge all\n"
    "  --sample N         judge N of those that are in no list, drawn at random\n"
    "  --seed S           of the sample; drawn afresh and printed where absent\n"
    "  --only TEXT        judge those whose name holds TEXT; may be repeated\n"
    "  --family F         only headers and problems of one family\n"
    "  --problem TEXT     only problems whose name holds TEXT; may be repeated. Who survives them "
    "may\n"
    "                     be caught by others\n"
    "  -j N               at a time (1)\n"
    "  --log FILE         judge none: count the verdicts of an earlier run's output; may be "
    "repeated\n"
    "  --markdown FILE    the table as Markdown too\n"
    "Exit code 0: every survivor is in equivalent.txt or survivors.txt; 1: not so; 77: no "
    "compiler.\n";

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

}  // namespace

const char* usage() {
  return kUsage;
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
    } else if (name == "--problem") {
      options.problems.push_back(value);
    } else if (name == "--log") {
      options.logs.push_back(value);
    } else if (name == "--markdown") {
      options.markdown = value;
    } else if (name == "-j") {
      options.jobs = std::max(1, number<int>(name, value));
    } else {
      refuse(name + " is no option");
    }
  }
  if (!options.list && !options.all && options.sample == 0 && options.only.empty() &&
      options.logs.empty()) {
    refuse("one of --list, --all, --sample, --only, --log is needed");
  }
  return options;
}

}  // namespace heddle::mutation
