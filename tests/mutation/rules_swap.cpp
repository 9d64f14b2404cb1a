// Neighbours that change places.
#include "tests/mutation/rules.hpp"

namespace heddle::mutation {
namespace {

void swap_spans(const SourceScan& source, const Span& left, const Span& right, Edits& edits) {
  if (left.empty() || right.empty()) return;
  const std::string first = source.text_of(left);
  const std::string second = source.text_of(right);
  if (first == second) return;
  const int begin = source.at(left.begin).begin;
  const int between_begin = source.at(left.end - 1).end();
  const int between_end = source.at(right.begin).begin;
  const std::string between =
      source.text().substr(static_cast<std::size_t>(between_begin),
                           static_cast<std::size_t>(between_end - between_begin));
  edits.push_back(
      {kRuleSwap, begin, source.at(right.end - 1).end() - begin, second + between + first});
}

/// The arguments between a bracket and its partner, by the commas of that level.
std::vector<Span> arguments(const SourceScan& source, int open) {
  std::vector<Span> found;
  const int close = source.at(open).partner;
  int begin = open + 1;
  for (int i = open + 1; i <= close; ++i) {
    if (i == close || source.at(i).is(",")) {
      found.push_back({begin, i});
      begin = i + 1;
    } else if (source.at(i).partner > i) {
      i = source.at(i).partner;
    }
  }
  return found;
}

bool has_statement(const SourceScan& source, const Span& span) {
  for (int i = span.begin; i < span.end; ++i) {
    if (source.at(i).is(";")) return true;
  }
  return false;
}

/// A declaration's parameters look like a call's arguments, but for two names in a row.
bool is_declaration(const SourceScan& source, const std::vector<Span>& list) {
  for (const Span& span : list) {
    for (int i = span.begin; i < span.end; ++i) {
      if (source.at(i).partner > i) {
        i = source.at(i).partner;
        continue;
      }
      const bool types = source.at(i).kind == TokenKind::kName &&
                         (source.at(i - 1).kind == TokenKind::kName || source.at(i - 1).is("&") ||
                          source.at(i - 1).is("*")) &&
                         i > span.begin && source.is_declared(i);
      if (types) return true;
    }
  }
  return false;
}

/// A call's or an initialiser's bracket.
bool holds_arguments(const SourceScan& source, int open) {
  const Token& bracket = source.at(open);
  const Token& before = source.at(open - 1);
  if (bracket.partner < open || !(bracket.is("(") || bracket.is("{"))) return false;
  if (is_one_of(before.text, "if for while switch sizeof maximum minimum combine")) return false;
  const bool named = before.kind == TokenKind::kName || (before.is(">") && !before.binary);
  return named || (bracket.is("{") && (before.is("{") || before.is("(") || before.is(",")));
}

}  // namespace

void find_swapped_operands(const SourceScan& source, Edits& edits) {
  for (int i = 0; i < source.size(); ++i) {
    const Token& token = source.at(i);
    if (holds_arguments(source, i)) {
      const std::vector<Span> list = arguments(source, i);
      const Span all{i + 1, token.partner};
      if (token.is("{") && has_statement(source, all)) continue;
      if (is_declaration(source, list)) continue;
      for (std::size_t k = 0; k + 1 < list.size(); ++k) {
        swap_spans(source, list[k], list[k + 1], edits);
      }
    }
    if (!token.binary) continue;
    if (token.is("-")) {
      const Span left = source.term_before(i);
      // "a - b - c" is "a - c - b".
      const bool subtracted = source.at(left.begin - 1).is("-");
      if (!subtracted) swap_spans(source, left, source.term_from(i + 1), edits);
    } else if (token.is("/") || token.is("%")) {
      swap_spans(source, source.primary_before(i), source.primary_from(i + 1), edits);
    } else if (token.is("<") || token.is("<=") || token.is(">") || token.is(">=")) {
      swap_spans(source, source.left_of_comparison(i), source.right_of_comparison(i), edits);
    }
  }
}

}  // namespace heddle::mutation
