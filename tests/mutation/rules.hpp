#pragma once
// What the rules find in a text; see docs/testing.md, "Mutation", for the list.

#include <string>
#include <string_view>
#include <vector>

#include "tests/mutation/source_scan.hpp"

namespace heddle::mutation {

struct Edit {
  std::string_view rule;
  int offset = 0;
  int length = 0;
  std::string replacement;
};
using Edits = std::vector<Edit>;

void find_deleted_waits(const SourceScan& source, Edits& edits);
void find_flipped_parities(const SourceScan& source, Edits& edits);
void find_shifted_bounds(const SourceScan& source, Edits& edits);
void find_relaxed_comparisons(const SourceScan& source, Edits& edits);
void find_shifted_stages(const SourceScan& source, Edits& edits);
void find_shifted_indices(const SourceScan& source, Edits& edits);
void find_dropped_factors(const SourceScan& source, Edits& edits);
void find_swapped_operands(const SourceScan& source, Edits& edits);

constexpr std::string_view kRuleWait = "wait";
constexpr std::string_view kRuleParity = "parity";
constexpr std::string_view kRuleBound = "bound";
constexpr std::string_view kRuleCompare = "compare";
constexpr std::string_view kRuleStage = "stage";
constexpr std::string_view kRuleIndex = "index";
constexpr std::string_view kRuleFactor = "factor";
constexpr std::string_view kRuleSwap = "swap";

// For the rules themselves.
void replace_span(const SourceScan& source, const Span& span, std::string_view rule,
                  std::string replacement, Edits& edits);
/// (span + 1) and (span - 1).
void shift_span(const SourceScan& source, const Span& span, std::string_view rule, Edits& edits);
bool is_comparison(const Token& token);
/// Whether the span is one side of a comparison: the bound rule moves that side.
bool is_compared(const SourceScan& source, const Span& span);
/// Whether `name` is one of the blank-separated words.
bool is_one_of(std::string_view name, std::string_view words);

}  // namespace heddle::mutation
