#include "tests/mutation/mutant.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>

#include "tests/mutation/rules.hpp"

namespace heddle::mutation {
namespace {

std::string collapse(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      result += c;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  while (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

/// Fills in the words from the edit: whole lines without comments, so that a reader sees the
/// statement.
Mutant describe(const SourceScan& source, const std::string& file, const Edit& edit) {
  const std::string& text = source.masked();
  const auto begin = static_cast<std::size_t>(edit.offset);
  const auto end = begin + static_cast<std::size_t>(edit.length);
  const std::size_t newline = text.rfind('\n', begin);
  const std::size_t first = newline == std::string::npos ? 0 : newline + 1;
  const std::size_t last = std::min(text.find('\n', end), text.size());
  Mutant mutant{file,
                std::string(edit.rule),
                source.line_of(edit.offset),
                edit.offset,
                edit.length,
                edit.replacement,
                {},
                {},
                0};
  mutant.before = collapse(text.substr(first, last - first));
  mutant.after =
      collapse(text.substr(first, begin - first) + edit.replacement + text.substr(end, last - end));
  return mutant;
}

void number_equal_keys(std::vector<Mutant>& mutants) {
  std::map<std::string, int> count;
  for (const Mutant& mutant : mutants) ++count[mutant.key()];
  std::map<std::string, int> seen;
  for (Mutant& mutant : mutants) {
    const std::string key = mutant.key();
    if (count[key] > 1) mutant.ordinal = ++seen[key];
  }
}

}  // namespace

bool is_one_of(std::string_view name, std::string_view words) {
  if (name.empty()) return false;
  const std::string padded = " " + std::string(words) + " ";
  return padded.find(" " + std::string(name) + " ") != std::string::npos;
}

bool is_comparison(const Token& token) {
  return token.binary && (token.is("<") || token.is("<=") || token.is(">") || token.is(">="));
}

bool is_compared(const SourceScan& source, const Span& span) {
  const bool right = is_comparison(source.at(span.begin - 1)) &&
                     source.right_of_comparison(span.begin - 1).end == span.end;
  const bool left =
      is_comparison(source.at(span.end)) && source.left_of_comparison(span.end).begin == span.begin;
  return left || right;
}

void replace_span(const SourceScan& source, const Span& span, std::string_view rule,
                  std::string replacement, Edits& edits) {
  if (span.empty()) return;
  const int begin = source.at(span.begin).begin;
  edits.push_back({rule, begin, source.at(span.end - 1).end() - begin, std::move(replacement)});
}

void shift_span(const SourceScan& source, const Span& span, std::string_view rule, Edits& edits) {
  const std::string text = source.text_of(span);
  if (text.empty()) return;
  const bool zero = text == "0";
  replace_span(source, span, rule, zero ? "1" : "(" + text + " + 1)", edits);
  replace_span(source, span, rule, zero ? "-1" : "(" + text + " - 1)", edits);
}

const std::vector<std::string_view>& rule_names() {
  static const std::vector<std::string_view> names{kRuleWait,    kRuleParity, kRuleBound,
                                                   kRuleCompare, kRuleStage,  kRuleIndex,
                                                   kRuleFactor,  kRuleSwap};
  return names;
}

std::string Mutant::key() const {
  const std::string suffix = ordinal > 0 ? fmt::format(" #{}", ordinal) : std::string();
  return fmt::format("{} {}: `{}` -> `{}`{}", file, rule, before, after, suffix);
}

std::string Mutant::name() const {
  return fmt::format("{}:{}{}", file, line, key().substr(file.size()));
}

std::string Mutant::apply(const std::string& text) const {
  std::string changed = text;
  return changed.replace(static_cast<std::size_t>(offset), static_cast<std::size_t>(length),
                         replacement);
}

std::vector<Mutant> make_mutants(const std::string& file, const std::string& text) {
  const SourceScan source(text);
  Edits edits;
  for (const auto rule :
       {find_deleted_waits, find_flipped_parities, find_shifted_bounds, find_relaxed_comparisons,
        find_shifted_stages, find_shifted_indices, find_dropped_factors, find_swapped_operands}) {
    rule(source, edits);
  }
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit& left, const Edit& right) { return left.offset < right.offset; });
  std::vector<Mutant> mutants;
  std::set<std::string> seen;
  for (const Edit& edit : edits) {
    Mutant mutant = describe(source, file, edit);
    const std::string result = fmt::format("{} {}", edit.offset, collapse(mutant.apply(text)));
    if (seen.insert(result).second) mutants.push_back(std::move(mutant));
  }
  number_equal_keys(mutants);
  return mutants;
}

}  // namespace heddle::mutation
