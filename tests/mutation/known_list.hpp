#pragma once
// The checked-in lists of mutants that may survive: equivalent.txt and survivors.txt.
//
//     # a comment
//     part/softmax.cuh bound: `row < kRows` -> `row < kRows + *`
//     part/softmax.cuh swap: `a - b` -> `b - a` #2
//         One sentence that says why, for the patterns above it.

#include <string>
#include <vector>

#include "tests/mutation/mutant.hpp"

namespace heddle::mutation {

struct KnownMutant {
  std::string pattern;  ///< of Mutant::key(); '*' stands for any text
  std::string reason;
};

/// Throws Error (kInvalidArgument) for a pattern without a reason and the reverse.
std::vector<KnownMutant> parse_known(const std::string& text);

/// The entry that matches, or null.
const KnownMutant* find_known(const std::vector<KnownMutant>& list, const Mutant& mutant);

/// Patterns that match none of the mutants.
std::vector<std::string> unmatched(const std::vector<KnownMutant>& list,
                                   const std::vector<Mutant>& mutants);

/// Whether `text` is the pattern, whose '*' stand for any text.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace heddle::mutation
