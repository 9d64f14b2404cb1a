// Rules about numbers: bounds, comparisons, indices and strides, factors.
#include "tests/mutation/rules.hpp"

namespace heddle::mutation {
namespace {

bool is_number(const SourceScan& source, const Span& span) {
  return span.end == span.begin + 1 && source.at(span.begin).kind == TokenKind::kNumber;
}

bool is_integer(const Token& token) {
  return token.kind == TokenKind::kNumber && token.text.find('.') == std::string_view::npos &&
         token.text.find('x') == std::string_view::npos;
}

bool is_floating(const SourceScan& source, const Span& span) {
  for (int i = span.begin; i < span.end; ++i) {
    if (source.at(i).kind == TokenKind::kNumber && !is_integer(source.at(i))) return true;
  }
  return false;
}

/// "= value" of a declaration or assignment: the value.
Span assigned_value(const SourceScan& source, int equals) {
  int end = equals + 1;
  while (end < source.size() && !source.at(end).is(";") && !source.at(end).is(",") &&
         !source.at(end).is(")")) {
    const int partner = source.at(end).partner;
    end = partner > end ? partner + 1 : end + 1;
  }
  return {equals + 1, end};
}

void shift_loop_start(const SourceScan& source, int index, Edits& edits) {
  // for ( int i = BEGIN ;
  if (!source.at(index).is("for") || !source.at(index + 1).is("(")) return;
  for (int i = index + 2; i < source.at(index + 1).partner && !source.at(i).is(";"); ++i) {
    if (source.at(i).is("=")) shift_span(source, assigned_value(source, i), kRuleBound, edits);
  }
}

/// What a loop adds to its counter: "16" in "for (…; i < n; i += 16)" for the comparison at
/// `index`; "1" elsewhere. Less than a step would often change nothing.
std::string step_of(const SourceScan& source, int index) {
  const int semicolon = source.right_of_comparison(index).end;
  if (!source.at(semicolon).is(";") || !source.at(semicolon + 2).is("+=")) return "1";
  const Span step = source.right_of_comparison(semicolon + 2);
  if (!source.at(step.end).is(")")) return "1";
  const std::string text = source.text_of(step);
  return step.end == step.begin + 1 ? text : "(" + text + ")";
}

/// "<" with one more is "<=", which the comparison rule makes: only the other way remains.
void shift_compared(const SourceScan& source, int index, Edits& edits) {
  const Token& sign = source.at(index);
  const Span right = source.right_of_comparison(index);
  if (right.empty() || is_floating(source, right)) return;
  const bool up = sign.is("<=") || sign.is(">");
  replace_span(source, right, kRuleBound,
               source.text_of(right) + (up ? " + " : " - ") + step_of(source, index), edits);
}

bool names_a_bound(std::string_view name) {
  return is_one_of(name,
                   "query_length key_length seqlen_q seqlen_kv valid_rows valid_columns seen "
                   "seen_keys rows_left count_ first_masked first_sanitized key_end keys rows "
                   "num_splits query_tiles split_tiles blocks_per_split left");
}

bool names_an_offset(std::string_view name) {
  for (const std::string_view end :
       {"stride", "stride_", "pitch", "kPitch", "_offset", "_row", "_column", "_query", "_key"}) {
    if (name.size() >= end.size() && name.substr(name.size() - end.size()) == end) return true;
  }
  return false;
}

bool is_plain_read(const SourceScan& source, int index) {
  const Token& after = source.at(index + 1);
  return source.at(index).kind == TokenKind::kName && !after.is("(") && !after.is("[") &&
         !after.is(".") && !after.is("->") && !after.is("::") && !after.is("<") &&
         !source.is_declared(index) && !source.is_assigned(index);
}

bool names_a_factor(std::string_view name) {
  for (const std::string_view part : {"scale", "factor", "inverse", "weight", "kLog2E", "kLn2"}) {
    if (name.find(part) != std::string_view::npos && name != "weights" && name != "rescale" &&
        name.find("Lazy") == std::string_view::npos) {
      return true;
    }
  }
  return name == "exact";
}

}  // namespace

void find_shifted_bounds(const SourceScan& source, Edits& edits) {
  for (int i = 0; i < source.size(); ++i) {
    const Token& token = source.at(i);
    if (is_comparison(token)) shift_compared(source, i, edits);
    shift_loop_start(source, i, edits);
    // An integer limit; the maxima of floats are no bounds.
    const bool limits = (token.is("minimum") || token.is("maximum")) && source.at(i + 1).is("(");
    if (limits && !source.is_declared(i) && (token.is("minimum") || is_integer(source.at(i + 2)))) {
      shift_span(source, {source.chain_of(i).begin, source.at(i + 1).partner + 1}, kRuleBound,
                 edits);
    }
    const bool calls = is_one_of(token.text, "causal_keys diagonal seen_keys visible_keys") &&
                       source.at(i + 1).is("(") && !source.is_declared(i);
    if (calls) {
      shift_span(source, {source.chain_of(i).begin, source.at(i + 1).partner + 1}, kRuleBound,
                 edits);
    }
    if (!names_a_bound(token.text) || !is_plain_read(source, i)) continue;
    const Span chain = source.chain_of(i);
    if (!is_compared(source, chain)) shift_span(source, chain, kRuleBound, edits);
  }
  for (int i = 0; i < source.size(); ++i) {
    // range.begin, range.end, range.first_masked
    const bool range = source.at(i).is("=") && source.at(i - 2).is(".");
    if (range && is_one_of(source.at(i - 1).text, "begin end first_masked")) {
      shift_span(source, assigned_value(source, i), kRuleBound, edits);
    }
  }
}

void find_relaxed_comparisons(const SourceScan& source, Edits& edits) {
  for (int i = 0; i < source.size(); ++i) {
    const Token& token = source.at(i);
    if (!is_comparison(token)) continue;
    const std::string other = token.text.size() == 2 ? std::string(token.text.substr(0, 1))
                                                     : std::string(token.text) + "=";
    replace_span(source, {i, i + 1}, kRuleCompare, other, edits);
  }
}

/// Numbers that something is multiplied by, divided by or moved by; strides, pitches and the names
/// of places.
void find_shifted_indices(const SourceScan& source, Edits& edits) {
  for (int i = 0; i < source.size(); ++i) {
    const Token& token = source.at(i);
    const Token& before = source.at(i - 1);
    const Token& after = source.at(i + 1);
    if (is_integer(token) && !token.is("0")) {
      const auto moves = [](const Token& sign) {
        return sign.binary &&
               (sign.is("*") || sign.is("/") || sign.is("%") || sign.is("+") || sign.is("-"));
      };
      if (!moves(before) && !moves(after)) continue;
      const bool divides = before.is("/") || before.is("%");
      const int value = std::stoi(std::string(token.text));
      if (!source.is_declared_size(i)) {
        replace_span(source, {i, i + 1}, kRuleIndex, std::to_string(value + 1), edits);
      }
      if (!divides || value > 1) {
        replace_span(source, {i, i + 1}, kRuleIndex, std::to_string(value - 1), edits);
      }
      continue;
    }
    if (!names_an_offset(token.text) || !is_plain_read(source, i)) continue;
    const Span chain = source.chain_of(i);
    if (!is_compared(source, chain)) shift_span(source, chain, kRuleIndex, edits);
  }
}

/// A factor, named as one, becomes 1; so does the exponential or reciprocal that something is
/// multiplied by.
void find_dropped_factors(const SourceScan& source, Edits& edits) {
  for (int i = 0; i < source.size(); ++i) {
    const Token& token = source.at(i);
    if (token.kind != TokenKind::kName) {
      // 1.0f / x
      const bool inverts = token.is("/") && token.binary && source.at(i - 1).is("1.0f");
      if (inverts) {
        replace_span(source, {i - 1, source.primary_from(i + 1).end}, kRuleFactor, "1.0f", edits);
      }
      continue;
    }
    const bool call = source.at(i + 1).is("(");
    const bool inverts = call && (token.is("fast_exp2") || token.is("fast_reciprocal"));
    const Span chain = source.chain_of(i);
    const Token& sign = source.at(chain.begin - 1);
    if (inverts &&
        ((sign.is("*") && sign.binary) || sign.is("*=") || token.is("fast_reciprocal"))) {
      if (source.is_declared(i)) continue;
      replace_span(source, {chain.begin, source.at(i + 1).partner + 1}, kRuleFactor, "1.0f", edits);
      continue;
    }
    if (!names_a_factor(token.text) || source.is_declared(i) || source.is_assigned(i)) continue;
    const Span whole{chain.begin, source.primary_from(chain.begin).end};
    const Token& after = source.at(i + 1);
    if (after.is(".") || after.is("->") || after.is("::") || after.is("<") ||
        is_number(source, whole))
      continue;
    replace_span(source, whole, kRuleFactor, "1.0f", edits);
  }
}

}  // namespace heddle::mutation
