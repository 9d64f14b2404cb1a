#pragma once
// Verdicts as lines of text, so that a long run can be made in pieces and counted together.

#include <map>
#include <string>

#include "tests/mutation/trial.hpp"

namespace heddle::mutation {

/// "KILLED", "OUT OF TIME", …; what a log says of a mutant that a list names may differ.
std::string_view outcome_word(Outcome outcome);
/// Behind the word where a caught mutant is in a list.
constexpr std::string_view kButListed = " BUT LISTED";

/// "KILLED part/softmax.cuh:57 bound: `…` -> `…` | fa2 causal | wrong answer: … | 1.2 s"
std::string verdict_line(const std::string& word, const Mutant& mutant, const Verdict& verdict);

/// The last verdict on each key in the text of one or more logs; other lines are skipped.
std::map<std::string, Verdict> read_verdicts(const std::string& text);

}  // namespace heddle::mutation
